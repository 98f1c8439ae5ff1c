package dev.isola.engine.snapshot;

import dev.isola.document.SpecDocument;
import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.Delivery;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.lifecycle.Book;
import dev.isola.engine.lifecycle.ForkOrigin;
import dev.isola.engine.lifecycle.Order;
import dev.isola.engine.lifecycle.ReservedTags;
import dev.isola.engine.lifecycle.Secrets;
import dev.isola.engine.lifecycle.SpecText;
import dev.isola.engine.startup.Startup;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Forking;
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
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Makes several sandboxes with the files that one has now: by sharing those where the provider can
 * and nobody in the sandbox uses them, else by a snapshot. Then one sandbox is filled from it,
 * which nobody uses yet, and the others share that one's. Their processes, clocks and random
 * numbers are their own: they begin anew.
 *
 * @param use returns a sandbox and counts as its use
 * @param create makes what is ordered
 * @param startup what runs in each of them before it is ready
 */
public record Forks(
    Book book,
    Snapshots snapshots,
    Secrets secrets,
    Function<SandboxId, Sandbox> use,
    Function<Order, Delivery> create,
    Startup startup,
    Log log) {
  public static final int MOST = 100;

  private static final SecureRandom RANDOM = new SecureRandom();

  /** What a fork has already because its files are there, or may not share. */
  private static final List<String> NOT_AGAIN =
      List.of("id", "seedFiles", "init", "workspacePath", "image");

  /**
   * @return as many results as were asked for
   */
  public List<Forked> fork(SandboxId id, int count, ForkKind kind) {
    if (count < 1 || count > MOST) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              count + " forks cannot be made at once",
              "ask for 1 to " + MOST)
          .sandbox(id)
          .exception();
    }
    refuseUnlessFiles(book.need(id), kind); // before it is woken
    Map<String, Secret> secretEnv = secrets.get(id);
    Sandbox sandbox = use.apply(id);
    SandboxEntry source = book.need(id);
    try (Shared shared = shared(sandbox, source.spec())) {
      return shared.origin().isPresent()
          ? mounted(source, secretEnv, shared.origin().get(), count)
          : restored(source, secretEnv, count);
    }
  }

  private static void refuseUnlessFiles(SandboxEntry source, ForkKind kind) {
    if (kind != ForkKind.FILESYSTEM) {
      throw Fault.of(
              ErrorCode.NOT_IMPLEMENTED,
              "the memory of sandbox "
                  + source.id()
                  + " cannot be forked: provider "
                  + source.provider()
                  + " copies files only, and not processes that run",
              "ask for kind filesystem: forks have its files, and processes begin anew"
                  + " (docs/snapshots.md, Forks)")
          .sandbox(source.id())
          .with("provider", source.provider())
          .with("capability", "forks of memory")
          .exception();
    }
  }

  /** The files of a sandbox, where those of its workspace can be shared. */
  private record Shared(Optional<ForkOrigin> origin, Runnable release) implements AutoCloseable {
    static final Shared NOTHING = new Shared(Optional.empty(), () -> {});

    @Override
    public void close() {
      release.run();
    }
  }

  private Shared shared(Sandbox sandbox, String spec) {
    Optional<Forking> forking = sandbox.as(Forking.class);
    if (forking.isEmpty()) {
      return Shared.NOTHING;
    }
    try {
      Forking.Origin workspace = forking.get().freeze();
      try {
        ForkRest rest =
            ForkRest.of(sandbox, SpecText.read(spec, sandbox.id()).spec(), snapshots.scratch());
        return new Shared(
            Optional.of(new ForkOrigin(workspace, rest::applyTo)),
            () -> {
              rest.close();
              workspace.close();
            });
      } catch (SandboxException e) {
        workspace.close();
        throw e;
      }
    } catch (SandboxException e) {
      log.info("the forks of " + sandbox.id() + " have copies: " + e.fault().what());
      return Shared.NOTHING;
    }
  }

  private List<Forked> mounted(
      SandboxEntry source, Map<String, Secret> secretEnv, ForkOrigin origin, int count) {
    Optional<String> image = snapshots.standsOn(source);
    return together(
        count,
        () -> one(source, order(source, secretEnv, image).withOrigin(origin), Forked.By.MOUNT));
  }

  private List<Forked> restored(SandboxEntry source, Map<String, Secret> secretEnv, int count) {
    Snapshot files =
        snapshots
            .create(
                source.id(),
                SnapshotOrder.EVERYTHING.withTags(Map.of("isola.fork", source.id().value())))
            .snapshot();
    try {
      Supplier<Forked> filled =
          () ->
              one(
                  source,
                  order(source, secretEnv, Optional.of(SnapshotImages.name(files.id()))),
                  Forked.By.RESTORE);
      List<Forked> results = new ArrayList<>(List.of(filled.get()));
      if (count > 1) {
        results.addAll(others(source, secretEnv, results.getFirst(), filled, count - 1));
      }
      return results;
    } finally {
      snapshots.remove(files.id());
    }
  }

  /** The files of the first are shared only where no startup has changed them. */
  private List<Forked> others(
      SandboxEntry source,
      Map<String, Secret> secretEnv,
      Forked first,
      Supplier<Forked> filled,
      int count) {
    if (!startup.hasCommands()
        && first instanceof Forked.Made(SandboxView entry, Forked.By ignored)) {
      try (Shared shared = shared(use.apply(entry.id()), entry.spec())) {
        if (shared.origin().isPresent()) {
          return mounted(source, secretEnv, shared.origin().get(), count);
        }
      }
    }
    return together(count, filled);
  }

  private static List<Forked> together(int count, Supplier<Forked> make) {
    List<Forked> results = new ArrayList<>();
    Forked[] each = new Forked[count];
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

  /** What was begun is waited for, so that nobody is left with sandboxes that they do not know. */
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

  private Forked one(SandboxEntry source, Order order, Forked.By by) {
    try {
      Order started = order.withStartup(startup);
      Delivery made =
          create.apply(source.idleTimeout().map(started::withIdleTimeout).orElse(started));
      return new Forked.Made(made.entry(), by);
    } catch (SandboxException e) {
      return new Forked.Failed(e);
    } catch (RuntimeException e) {
      return new Forked.Failed(
          Fault.of(ErrorCode.INTERNAL, "a fork failed: " + e, "look into the server's log")
              .exception(e));
    }
  }

  private static Order order(
      SandboxEntry source, Map<String, Secret> secretEnv, Optional<String> image) {
    CreateRequest asked = SpecText.read(source.spec(), source.id());
    Map<String, Object> document = new TreeMap<>(SpecDocument.toMap(asked));
    NOT_AGAIN.forEach(document::remove);
    image.ifPresent(name -> document.put("image", name));
    if (document.get("tags") instanceof Map<?, ?> tags) { // an earlier version took any name
      Map<?, ?> allowed = new LinkedHashMap<>(tags);
      allowed.keySet().removeIf(name -> ReservedTags.contains(String.valueOf(name)));
      document.put("tags", allowed);
    }
    CreateRequest fresh = SpecDocument.fromMap(document, () -> SandboxId.random(RANDOM));
    SandboxSpec spec = fresh.spec().toBuilder().secretEnv(secretEnv).build();
    return Order.of(fresh.with(spec).at(source.provider()).strict())
        .withTenant(source.tenant())
        .withLabels(source.labels());
  }
}
