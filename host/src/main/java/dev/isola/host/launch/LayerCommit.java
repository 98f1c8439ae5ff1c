package dev.isola.host.launch;

import dev.isola.host.layer.ForkStep;
import dev.isola.host.layer.ForkStepListener;
import dev.isola.host.layer.LayerStore;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.WorkspaceForker;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Commits the current content of a running sandbox's workspace as a read-only layer and gives the
 * sandbox a new upper folder above it. The launcher does this in a process that outlives the
 * server: it stops the sandbox's processes, makes the old workspace read-only, which the kernel
 * refuses while files are open for writing, mounts the new one over it and renames the folders.
 *
 * @param provider the name of the provider, for errors
 */
record LayerCommit(
    InstanceId instance, String provider, LayerStore layers, LayerMerger merger, Launcher launcher)
    implements WorkspaceForker {
  /** Below the launcher's own limit. Layers are merged long before, unless merging fails. */
  static final int MAX_LAYERS = 120;

  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  /** Pauses in milliseconds between retries of a busy workspace; each is twice the previous one. */
  private static final long FIRST_PAUSE = 5;

  private static final long LAST_PAUSE = 40;
  private static final Duration MERGE_TIMEOUT = Duration.ofSeconds(60);
  private static final String NO_ANSWER = "the launcher exited without an answer";
  private static final Pattern DONE = Pattern.compile("done held=(\\d+)");
  private static final Pattern BUSY = Pattern.compile("busy (.*)");

  /** The path of the new workspace on the stage; see commit.h. */
  private static final String STAGED = "/workspace";

  @Override
  public FrozenLayers freeze(SandboxId id, SandboxFolder folder, AgentProcess agent)
      throws IOException {
    recover(id, folder);
    Workspace workspace =
        new Workspace(folder, SandboxUserIds.of(instance, id, folder.path()), layers);
    if (untouched(workspace, agent)) {
      LeasedLayers stack = lease(workspace);
      return new FrozenLayers(stack.layers(), stack.leaseId(), Duration.ZERO);
    }
    LaunchPlan plan = LaunchPlan.decode(Files.readAllBytes(IsolatedBooter.planFile(folder)));
    Optional<List<String>> step = plan.find(Workspace.VERB);
    if (step.isEmpty()) {
      throw Capability.unsupported(provider, "forking a sandbox with a workspace path on the host");
    }
    LeasedLayers lower = lease(workspace);
    try {
      if (lower.layers().size() >= MAX_LAYERS) {
        throw busy(id, "it has " + lower.layers().size() + " layers");
      }
      return commitLayer(id, workspace, lower.layers(), plan, step.get().get(1), agent);
    } finally {
      layers.release(lower.layers(), lower.leaseId());
    }
  }

  @Override
  public void release(FrozenLayers frozen) throws IOException {
    layers.release(frozen.layers(), frozen.leaseId());
    merger.afterFork(frozen.layers());
  }

  private boolean untouched(Workspace workspace, AgentProcess agent) throws IOException {
    Optional<List<String>> words = workspace.untouchedStep();
    if (words.isEmpty()) {
      return false;
    }
    return switch (execute(newPlan(workspace, agent).add(words.get()).encode())) {
      case "yes" -> true;
      case "no" -> false;
      case String other -> throw new IOException(other.isEmpty() ? NO_ANSWER : other);
    };
  }

  /** Returns a plan with the first steps for a running sandbox. */
  private static LaunchPlan newPlan(Workspace workspace, AgentProcess agent) {
    LaunchPlan plan = new LaunchPlan();
    if (!workspace.users().hasRange()) {
      plan.step("join", Long.toString(agent.pid()));
    }
    WritableLayer layer = new WritableLayer(workspace.folder());
    Disks.mount(plan, layer.image(), layer.path());
    return plan;
  }

  /** Layers protected by a lease. */
  private record LeasedLayers(List<String> layers, String leaseId) {}

  /** Leases the lower layers of a workspace, merged where possible. */
  private LeasedLayers lease(Workspace workspace) throws IOException {
    List<String> lower = workspace.lowerLayers();
    List<String> compacted = layers.compacted(lower);
    if (compacted.size() >= MAX_LAYERS) {
      merger.mergeNow(compacted, MERGE_TIMEOUT);
      compacted = layers.compacted(lower);
    }
    try {
      return new LeasedLayers(compacted, layers.lease(compacted));
    } catch (NoSuchFileException goneMeanwhile) {
      return new LeasedLayers(lower, layers.lease(lower));
    }
  }

  private FrozenLayers commitLayer(
      SandboxId id,
      Workspace workspace,
      List<String> lower,
      LaunchPlan plan,
      String mount,
      AgentProcess agent)
      throws IOException {
    Path folder = workspace.folder().path();
    layers.acquire(lower, id.value(), folder);
    WritableLayer own = new WritableLayer(workspace.folder());
    Optional<Path> disk = own.hasDisk() ? Optional.of(own.image()) : Optional.empty();
    String layer = layers.create(workspace.users().firstId(), id.value(), folder, disk);
    List<String> stack = new ArrayList<>(List.of(layer));
    stack.addAll(lower);
    String leaseId = layers.lease(stack);
    try {
      return new FrozenLayers(
          stack, leaseId, new Commit(id, workspace, mount, agent, stack).run(plan));
    } catch (IOException | RuntimeException e) {
      layers.release(stack, leaseId);
      throw e;
    }
  }

  /**
   * Completes or reverts commits with an unknown outcome, because their process was killed or did
   * not answer.
   */
  void recover(SandboxId id, SandboxFolder folder) throws IOException {
    List<Path> intents = new ArrayList<>();
    try (DirectoryStream<Path> found =
        Files.newDirectoryStream(folder.path(), PendingCommit.INTENT + "*")) {
      found.forEach(intents::add);
    }
    for (Path intent : intents) {
      String layer = intent.getFileName().toString().substring(PendingCommit.INTENT.length());
      finish(id, new PendingCommit(folder.path(), layer));
    }
  }

  /** Completes or reverts a commit; returns whether the sandbox has the new workspace. */
  private boolean finish(SandboxId id, PendingCommit pending) throws IOException {
    String answer = execute(Files.readAllBytes(pending.intent()));
    if (!answer.startsWith("done") && !answer.startsWith("undone")) {
      throw new IOException(answer.isEmpty() ? NO_ANSWER : answer);
    }
    boolean done = answer.startsWith("done");
    if (!done) {
      remove(pending);
    }
    releaseUnlisted(id, pending);
    return done;
  }

  private void remove(PendingCommit pending) throws IOException {
    pending.remove();
    WritableLayer layer = new WritableLayer(new SandboxFolder(pending.folder()));
    LaunchPlan plan = new LaunchPlan();
    Disks.mount(plan, layer.image(), layer.path());
    String answer =
        execute(plan.step("remove", pending.own().toString(), pending.work().toString()).encode());
    if (!answer.equals("done")) {
      throw new IOException(answer.isEmpty() ? NO_ANSWER : answer);
    }
  }

  /** Releases the layers that the sandbox's current list no longer names. */
  private void releaseUnlisted(SandboxId id, PendingCommit pending) throws IOException {
    Workspace now =
        new Workspace(new SandboxFolder(pending.folder()), SandboxUserIds.SERVER, layers);
    layers.releaseExcept(id.value(), now.requiredLayers());
    Files.deleteIfExists(pending.intent());
  }

  private String execute(byte[] plan) throws IOException {
    return launcher.execute(plan, TIMEOUT);
  }

  /**
   * A commit after which the workspace is above all of these layers; the topmost is the new one.
   */
  private final class Commit {
    private final SandboxId id;
    private final Workspace workspace;
    private final String mount;
    private final AgentProcess agent;
    private final List<String> stack;
    private final PendingCommit pending;

    private Commit(
        SandboxId id, Workspace workspace, String mount, AgentProcess agent, List<String> stack) {
      this.id = id;
      this.workspace = workspace;
      this.mount = mount;
      this.agent = agent;
      this.stack = stack;
      this.pending = new PendingCommit(workspace.folder().path(), stack.getFirst());
    }

    /** Returns how long the sandbox was stopped. */
    Duration run(LaunchPlan plan) throws IOException {
      boolean changed = !workspace.lowerLayers().equals(stack.subList(1, stack.size()));
      long start = System.nanoTime();
      List<String> words = arguments();
      IsolatedBooter.save(pending.intent(), recoveryPlan().step(step("mend", words)).encode());
      steps().reached(ForkStep.COMMIT_INTENT_WRITTEN);
      try {
        prepare(plan);
        steps().reached(ForkStep.COMMIT_PREPARED);
        String answer = executeWithRetry(commitPlan().step(step("push", words)).encode());
        steps().reached(ForkStep.COMMIT_ANSWERED);
        Duration held = parseAnswer(answer);
        if (changed) {
          releaseUnlisted(id, pending);
        } else {
          Files.delete(pending.intent());
        }
        steps().reached(ForkStep.COMMIT_INTENT_REMOVED);
        return held;
      } catch (SandboxException refused) {
        remove(pending);
        releaseUnlisted(id, pending);
        throw refused;
      } catch (IOException e) { // the outcome is unknown without an answer
        if (finish(id, pending)) {
          return Duration.ofNanos(System.nanoTime() - start);
        }
        throw e;
      }
    }

    /**
     * Retries, because a busy workspace is usually released soon: a command ends, a file is closed.
     */
    private String executeWithRetry(byte[] push) throws IOException {
      String answer = execute(push);
      for (long pause = FIRST_PAUSE; answer.startsWith("busy") && pause <= LAST_PAUSE; pause *= 2) {
        try {
          Thread.sleep(pause);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return answer;
        }
        answer = execute(push);
      }
      return answer;
    }

    private ForkStepListener steps() {
      return layers.listener();
    }

    private void prepare(LaunchPlan plan) throws IOException {
      if (workspace.lowerLayers().isEmpty()) {
        workspace.anchor(stack.getFirst());
      }
      Files.write(pending.list(), stack);
      IsolatedBooter.save(
          pending.plan(),
          plan.replaceStep(
                  workspace.step(mount, workspace.upper(), pending.work(), List.of(), stack))
              .encode());
    }

    private LaunchPlan recoveryPlan() {
      return newPlan(workspace, agent).step("stage");
    }

    private LaunchPlan commitPlan() throws IOException {
      LaunchPlan plan = newPlan(workspace, agent);
      WritableLayer.create(plan, workspace.users(), pending.work(), "700");
      workspace.planFolderLike(plan, workspace.upper(), workspace.users().firstId(), pending.own());
      return plan.step("stage")
          .add(
              workspace.step(
                  STAGED,
                  pending.own(),
                  pending.work(),
                  List.of(workspace.upper()),
                  stack.subList(1, stack.size())));
    }

    /** Returns where the files are renamed to, which must be on the same file system. */
    private Path target() {
      WritableLayer layer = new WritableLayer(workspace.folder());
      String name = stack.getFirst();
      return layer.hasDisk()
          ? layer.resolve(WritableLayer.PUSHED).resolve(name)
          : layers.tree(name);
    }

    private static String[] step(String verb, List<String> words) {
      return Stream.concat(Stream.of(verb), words.stream()).toArray(String[]::new);
    }

    private List<String> arguments() throws IOException {
      return List.of(
          Long.toString(agent.pid()),
          Long.toString(agent.startTime()),
          MountTable.of(agent.pid()).topmost(mount),
          mount,
          WritableLayer.INSIDE + "/" + Workspace.NAME,
          workspace.upper().toString(),
          target().toString(),
          pending.own().toString(),
          workspace.upper().toString(),
          pending.list().toString(),
          workspace.list().toString(),
          pending.plan().toString(),
          IsolatedBooter.planFile(workspace.folder()).toString());
    }

    private Duration parseAnswer(String answer) throws IOException {
      Matcher done = DONE.matcher(answer);
      if (done.matches()) {
        return Duration.ofNanos(Long.parseLong(done.group(1)));
      }
      Matcher busy = BUSY.matcher(answer);
      if (busy.matches()) {
        throw busy(id, busy.group(1));
      }
      throw new IOException(answer.isEmpty() ? NO_ANSWER : answer);
    }
  }

  private static SandboxException busy(SandboxId id, String why) {
    return Fault.of(
            ErrorCode.CONFLICT,
            "the workspace of sandbox " + id + " cannot be forked now: " + why,
            "end the processes that use it, or take a snapshot")
        .sandbox(id)
        .exception();
  }

  /** The files of a commit that is not complete. */
  private record PendingCommit(Path folder, String layer) {
    static final String INTENT = "push-";

    /** Returns the launcher's recovery plan; written first, removed last. */
    Path intent() {
      return folder.resolve(INTENT + layer);
    }

    Path own() {
      return new WritableLayer(new SandboxFolder(folder)).resolve("next-" + layer);
    }

    Path work() {
      return new WritableLayer(new SandboxFolder(folder)).resolve("work-" + layer);
    }

    Path list() {
      return folder.resolve("layers-" + layer);
    }

    Path plan() {
      return folder.resolve("plan-" + layer);
    }

    /** Removes the files outside the sandbox's {@link WritableLayer}. */
    void remove() throws IOException {
      Files.deleteIfExists(list());
      Files.deleteIfExists(plan());
    }
  }
}
