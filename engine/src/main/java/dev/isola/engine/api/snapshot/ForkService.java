package dev.isola.engine.api.snapshot;

import dev.isola.document.SpecDocument;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.CreateResult;
import dev.isola.engine.api.ForkKind;
import dev.isola.engine.api.ForkRequest;
import dev.isola.engine.api.ForkResult;
import dev.isola.engine.api.ForkSource;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.ReservedTags;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.SnapshotImageName;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.engine.api.sandbox.SandboxCreator;
import dev.isola.engine.api.sandbox.Sandboxes;
import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.lifecycle.SecretEnvStore;
import dev.isola.engine.snapshot.MemoryCapturer;
import dev.isola.engine.snapshot.MemoryForkPolicy;
import dev.isola.engine.snapshot.MemoryForkPolicy.Purpose;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.SandboxEntry;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Creates several sandboxes with the state of one sandbox.
 *
 * <p>Forks of files: if the provider supports it and no process in the sandbox uses the files, the
 * forks share them. Otherwise the engine takes a snapshot, restores it into one fork, and lets the
 * other forks share the files of that one. Processes, clocks and random number generators of forks
 * start afresh.
 *
 * <p>Forks of memory: the provider saves the processes and files once, and every fork continues
 * from there. The engine neither runs nor writes anything in the forks.
 */
public record ForkService(
    SandboxCreator creator,
    Sandboxes sandboxes,
    SandboxRecorder recorder,
    SnapshotService snapshots,
    SecretEnvStore secrets,
    MemoryForkPolicy memoryPolicy,
    ActivityTracker activity,
    Log log) {
  public static final int MAX_FORKS = 100;

  /** The label of a fork: the id of the sandbox that it was made of. */
  public static final String FORK_OF = ReservedTags.PREFIX + "forkOf";

  private static final SecureRandom RANDOM = new SecureRandom();

  /** Spec fields that no fork inherits: their effect is already in the files. */
  private static final List<String> NOT_INHERITED = List.of("id", "seedFiles", "init", "image");

  /** A spec field that forks of files do not inherit: a folder of the host cannot be shared. */
  private static final String HOST_FOLDER = "workspacePath";

  /**
   * Creates forks of a sandbox.
   *
   * @return one result per fork: the sandbox, or the reason why it could not be created
   * @throws dev.isola.spi.error.Unsupported if the provider does not support this kind of fork;
   *     nothing is created
   * @throws dev.isola.spi.error.Conflict if the memory of a sandbox with secret variables is
   *     requested and the request does not allow that, or if it holds something that cannot be
   *     saved
   */
  public List<ForkResult> fork(SandboxId id, ForkRequest request) {
    creator.refuseWhenClosing();
    if (request.count() < 1 || request.count() > MAX_FORKS) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              request.count() + " forks exceed the allowed number",
              "request 1 to " + MAX_FORKS)
          .sandbox(id)
          .exception();
    }
    try (ActivityTracker.Activity _ = activity.begin(id)) {
      return switch (request.kind()) {
        case FILESYSTEM -> forkFiles(id, request);
        case MEMORY -> forkMemory(id, request);
      };
    }
  }

  private List<ForkResult> forkFiles(SandboxId id, ForkRequest request) {
    Map<String, Secret> secretEnv = secrets.get(id);
    Sandbox sandbox = sandboxes.get(id);
    SandboxEntry source = recorder.require(id);
    try (SharedFiles shared = shared(sandbox, source.spec())) {
      return shared.origin().isPresent()
          ? mounted(source, secretEnv, shared.origin().get(), request, request.count())
          : restored(source, secretEnv, request);
    }
  }

  /** Creates forks of memory, all from one fork point. There is no fallback to files. */
  private List<ForkResult> forkMemory(SandboxId id, ForkRequest request) {
    // Both checks come before the sandbox is resumed.
    SandboxEntry requested = recorder.require(id);
    memoryPolicy.requireSupport(requested, Purpose.FORK);
    Map<String, Secret> secretEnv = secrets.get(id);
    MemoryForkPolicy.requireNoSecrets(requested, secretEnv, Purpose.FORK, request.allowSecrets());
    Sandbox sandbox = sandboxes.get(id);
    SandboxEntry source = recorder.require(id);
    MemoryForking memory =
        sandbox
            .as(MemoryForking.class)
            .orElseThrow(() -> memoryPolicy.unsupported(source, Purpose.FORK));
    Optional<String> image = snapshots.baseImage(source);
    Forking.ForkPoint point = memory.createForkPoint();
    try {
      ForkSource saved = ForkSource.ofMemory(point);
      return inParallel(
          request.count(),
          () ->
              forkOne(
                  source,
                  request,
                  () -> order(source, secretEnv, image, ForkKind.MEMORY).withForkSource(saved),
                  ForkResult.Method.MEMORY));
    } finally {
      release(point, id);
    }
  }

  private void release(Forking.ForkPoint point, SandboxId source) {
    MemoryCapturer.release(point, "to fork sandbox " + source, log);
  }

  /** The files of a sandbox, if its workspace can be shared. */
  private record SharedFiles(Optional<ForkSource> origin, Runnable release)
      implements AutoCloseable {
    static final SharedFiles NOTHING = new SharedFiles(Optional.empty(), () -> {});

    @Override
    public void close() {
      release.run();
    }
  }

  private SharedFiles shared(Sandbox sandbox, String spec) {
    Optional<Forking> forking = sandbox.as(Forking.class);
    if (forking.isEmpty()) {
      return SharedFiles.NOTHING;
    }
    try {
      Forking.ForkPoint workspace = forking.get().createForkPoint();
      try {
        NonWorkspaceFiles otherFiles =
            NonWorkspaceFiles.of(
                sandbox, SpecCodec.decode(spec, sandbox.id()).spec(), snapshots.scratchFolder());
        return new SharedFiles(
            Optional.of(new ForkSource(workspace, otherFiles::applyTo)),
            () -> {
              otherFiles.close();
              release(workspace, sandbox.id());
            });
      } catch (SandboxException e) {
        release(workspace, sandbox.id());
        throw e;
      }
    } catch (SandboxException e) {
      log.info(
          "the forks of "
              + sandbox.id()
              + " cannot share its files and get copies: "
              + e.fault().problem());
      return SharedFiles.NOTHING;
    }
  }

  private List<ForkResult> mounted(
      SandboxEntry source,
      Map<String, Secret> secretEnv,
      ForkSource origin,
      ForkRequest request,
      int count) {
    Optional<String> image = snapshots.baseImage(source);
    return inParallel(
        count,
        () ->
            forkOne(
                source,
                request,
                () -> order(source, secretEnv, image, ForkKind.FILESYSTEM).withForkSource(origin),
                ForkResult.Method.MOUNT));
  }

  private List<ForkResult> restored(
      SandboxEntry source, Map<String, Secret> secretEnv, ForkRequest request) {
    Snapshot files =
        snapshots
            .create(
                source.id(),
                SnapshotRequest.EVERYTHING.withTags(Map.of("isola.fork", source.id().value())))
            .snapshot();
    try {
      Supplier<ForkResult> filled =
          () ->
              forkOne(
                  source,
                  request,
                  () ->
                      order(
                          source,
                          secretEnv,
                          Optional.of(SnapshotImageName.of(files.id())),
                          ForkKind.FILESYSTEM),
                  ForkResult.Method.RESTORE);
      List<ForkResult> results = new ArrayList<>(List.of(filled.get()));
      if (request.count() > 1) {
        results.addAll(forkOthers(source, secretEnv, results.getFirst(), filled, request));
      }
      return results;
    } finally {
      snapshots.remove(files.id());
    }
  }

  /**
   * Creates the remaining forks. They share the files of the first one unless a startup has changed
   * them.
   */
  private List<ForkResult> forkOthers(
      SandboxEntry source,
      Map<String, Secret> secretEnv,
      ForkResult first,
      Supplier<ForkResult> filled,
      ForkRequest request) {
    if (!request.startup().hasCommands()
        && first instanceof ForkResult.Created(SandboxView entry, ForkResult.Method ignored)) {
      try (SharedFiles shared = shared(sandboxes.get(entry.id()), entry.spec())) {
        if (shared.origin().isPresent()) {
          return mounted(source, secretEnv, shared.origin().get(), request, request.count() - 1);
        }
      }
    }
    return inParallel(request.count() - 1, filled);
  }

  private static List<ForkResult> inParallel(int count, Supplier<ForkResult> make) {
    List<ForkResult> results = new ArrayList<>();
    ForkResult[] each = new ForkResult[count];
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int at = i;
      threads.add(Thread.ofVirtual().name("isola-fork-" + i).start(() -> each[at] = make.get()));
    }
    for (int i = 0; i < count; i++) {
      await(threads.get(i));
      results.add(each[i]);
    }
    return results;
  }

  /** Waits even if interrupted, so that no fork is created without its client learning the id. */
  private static void await(Thread thread) {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private ForkResult forkOne(
      SandboxEntry source,
      ForkRequest request,
      Supplier<SandboxRequest> order,
      ForkResult.Method by) {
    try {
      SandboxRequest fork = withPermissions(order.get(), request);
      SandboxRequest started =
          by == ForkResult.Method.MEMORY ? fork : fork.withStartup(request.startup());
      CreateResult result =
          creator.create(source.idleTimeout().map(started::withIdleTimeout).orElse(started), true);
      return new ForkResult.Created(result.view(), by);
    } catch (SandboxException e) {
      return new ForkResult.Failed(e);
    } catch (RuntimeException e) {
      return new ForkResult.Failed(
          Fault.of(ErrorCode.INTERNAL, "a fork failed: " + e, "check the server log").exception(e));
    }
  }

  /** A fork needs the same permissions as its source did. */
  private static SandboxRequest withPermissions(SandboxRequest fork, ForkRequest request) {
    SandboxRequest permitted = request.hostAccess() ? fork.withHostAccess() : fork;
    return request.key().map(permitted::withKey).orElse(permitted);
  }

  private static SandboxRequest order(
      SandboxEntry source, Map<String, Secret> secretEnv, Optional<String> image, ForkKind kind) {
    CreateRequest requested = SpecCodec.decode(source.spec(), source.id());
    Map<String, Object> document = new TreeMap<>(SpecDocument.toMap(requested));
    NOT_INHERITED.forEach(document::remove);
    if (kind == ForkKind.FILESYSTEM) {
      document.remove(HOST_FOLDER);
    }
    image.ifPresent(name -> document.put("image", name));
    CreateRequest fresh = SpecDocument.fromMap(document, () -> SandboxId.random(RANDOM));
    SandboxSpec spec = fresh.spec().toBuilder().secretEnv(secretEnv).build();
    Map<String, String> labels = new LinkedHashMap<>(source.labels());
    labels.put(FORK_OF, source.id().value());
    return SandboxRequest.of(fresh.with(spec).withProvider(source.provider()).strict())
        .withTenant(source.tenant())
        .withLabels(labels);
  }
}
