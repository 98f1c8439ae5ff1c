package dev.isola.engine.api.template;

import dev.isola.codec.time.Deadline;
import dev.isola.document.recipe.Recipe;
import dev.isola.engine.api.BuildLogEntry.Level;
import dev.isola.engine.api.BuildSettings;
import dev.isola.engine.api.Log;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.BuildEntry;
import dev.isola.store.Failpoint;
import dev.isola.store.Ledger;
import dev.isola.store.TemplateEntry;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;

/**
 * Runs builds, two at a time, each on its own thread. A build is recorded before it runs. The
 * template gets the new image in the same transaction that marks the build as ready.
 */
final class BuildScheduler implements AutoCloseable {
  private static final int AT_ONCE = 2;
  private static final int MOST = 100;
  private static final int LONGEST_REASON = 4096;
  private static final Duration CANCEL_TIMEOUT = Duration.ofSeconds(10);

  private final Ledger ledger;
  private final BuildRunner runner;
  private final BuildLogs logs;
  private final InstantSource clock;
  private final Log log;
  private final Semaphore slots = new Semaphore(AT_ONCE, true);
  private final Map<String, Running> running = new ConcurrentHashMap<>();

  /** The threads of builds that {@link #runHere} runs. */
  private final Map<String, Thread> callers = new ConcurrentHashMap<>();

  /** A build of this process that has not ended. */
  private record Running(String template, Thread thread, BuildLog log) {}

  BuildScheduler(Ledger ledger, BuildRunner runner, BuildLogs logs, InstantSource clock, Log log) {
    this.ledger = ledger;
    this.runner = runner;
    this.logs = logs;
    this.clock = clock;
    this.log = log;
  }

  /** Returns whether a build is running in this process. */
  boolean isRunning(String build) {
    return running.containsKey(build) || callers.containsKey(build);
  }

  /** The work of a build. */
  interface BuildTask {
    Recipe.Defaults run() throws IOException;
  }

  /**
   * Runs a build that is not recorded, on the calling thread, once fewer than two builds run.
   *
   * @throws dev.isola.spi.error.LimitExceeded if too many builds are waiting
   */
  void runHere(String build, BuildTask task) throws IOException, InterruptedException {
    refuseWhenFull();
    callers.put(build, Thread.currentThread());
    try {
      slots.acquire();
      try {
        Recipe.Defaults _ = task.run();
      } finally {
        slots.release();
      }
    } finally {
      callers.remove(build);
    }
  }

  /** Returns the log of a running build. */
  Optional<BuildLog> log(String build) {
    return Optional.ofNullable(running.get(build)).map(Running::log);
  }

  /**
   * Records a build and starts it in the background.
   *
   * @throws dev.isola.spi.error.Conflict if it was already started
   */
  void start(BuildEntry entry, Recipe recipe, BuildSettings settings) {
    refuseWhenFull();
    if (ledger.templates().build(entry.id()).isPresent()) {
      throw alreadyStarted();
    }
    BuildLog output = logs.open(entry.id());
    BuildRunner.Plan plan =
        new BuildRunner.Plan(entry.id(), ImageTarget.ofTemplate(entry.image()), recipe, settings);
    Thread thread =
        Thread.ofVirtual()
            .name("isola-build-" + entry.id())
            .unstarted(() -> run(entry, plan, output));
    running.put(entry.id(), new Running(entry.template(), thread, output));
    try {
      if (!ledger.templates().insert(entry)) {
        throw alreadyStarted();
      }
    } catch (RuntimeException e) {
      end(entry.id(), output);
      throw e;
    }
    Failpoint.TEMPLATE_BUILD_WRITTEN.reach();
    thread.start();
  }

  private void refuseWhenFull() {
    if (running.size() + callers.size() >= MOST) {
      throw Fault.of(
              ErrorCode.RESOURCE_LIMIT,
              MOST + " builds are already waiting or running",
              "retry in a minute")
          .with("limit", Integer.toString(MOST))
          .exception();
    }
  }

  private static SandboxException alreadyStarted() {
    return Fault.of(ErrorCode.CONFLICT, "this build was already started", "request a new build")
        .exception();
  }

  private void run(BuildEntry entry, BuildRunner.Plan plan, BuildLog output) {
    try {
      slots.acquire();
      try {
        build(entry, plan, output);
      } finally {
        slots.release();
      }
    } catch (SandboxException e) {
      fail(entry, output, words(e), step(e));
    } catch (InterruptedException e) {
      fail(entry, output, "the build was cancelled", Optional.empty());
    } catch (IOException | RuntimeException | Error e) {
      fail(entry, output, "the build failed: " + e, Optional.empty());
    } finally {
      end(entry.id(), output);
    }
  }

  private void build(BuildEntry entry, BuildRunner.Plan plan, BuildLog output) throws IOException {
    if (!ledger.templates().update(entry.withState(BuildEntry.State.RUNNING, clock.instant()))) {
      return; // the template was removed
    }
    Failpoint.TEMPLATE_BUILD_RUNNING.reach();
    Recipe.Defaults defaults = runner.build(plan, output);
    Failpoint.TEMPLATE_IMAGE_MADE.reach();
    finish(entry, defaults);
    Failpoint.TEMPLATE_BUILD_FINISHED.reach();
    output.end(Level.INFO, "done", Optional.empty());
  }

  /**
   * Marks the build as ready and sets the image of the template, in one transaction, and the names
   * that were requested with the build.
   */
  private void finish(BuildEntry entry, Recipe.Defaults defaults) {
    Optional<String> refusal =
        ledger.atomically(
            parts -> {
              Optional<TemplateEntry> template =
                  parts
                      .templates()
                      .find(entry.template())
                      .filter(one -> one.state() == TemplateEntry.State.AVAILABLE);
              if (template.isEmpty()) {
                return Optional.of("the template was removed during the build");
              }
              if (isOvertaken(entry, parts.templates().builds(entry.template()))) {
                return Optional.of("a newer build of the template finished first");
              }
              TemplateDocument document = TemplateDocument.read(template.get().document());
              Set<String> names = new LinkedHashSet<>(template.get().names());
              names.addAll(document.requestedNames(entry.id()));
              boolean _ =
                  parts
                      .templates()
                      .update(
                          template
                              .get()
                              .withNames(List.copyOf(names), clock.instant())
                              .withBuild(
                                  entry.image(),
                                  document.finished(entry.id(), defaults).write(),
                                  clock.instant()));
              boolean _ =
                  parts
                      .templates()
                      .update(entry.withState(BuildEntry.State.READY, clock.instant()));
              return Optional.<String>empty();
            });
    if (refusal.isPresent()) {
      throw Fault.of(ErrorCode.CONFLICT, refusal.get(), "build again").exception();
    }
  }

  private static boolean isOvertaken(BuildEntry entry, List<BuildEntry> builds) {
    return builds.stream()
        .dropWhile(one -> !one.id().equals(entry.id()))
        .anyMatch(one -> one.state() == BuildEntry.State.READY);
  }

  private static String words(SandboxException e) {
    return e.code() == ErrorCode.BUILD_FAILED
        ? e.fault().problem()
        : e.fault().problem() + " (" + e.fault().remedy() + ")";
  }

  private static Optional<Integer> step(SandboxException e) {
    return Optional.ofNullable(e.fault().context().get(BuildRunner.STEP)).map(Integer::valueOf);
  }

  /**
   * Records the failure. Clears the interrupt of a cancelled build first, because the ledger
   * rejects interrupted threads.
   */
  private void fail(BuildEntry entry, BuildLog output, String why, Optional<Integer> step) {
    boolean _ = Thread.interrupted();
    String reason = why.length() > LONGEST_REASON ? why.substring(0, LONGEST_REASON) + "..." : why;
    try {
      output.end(Level.ERROR, reason, step);
    } finally {
      boolean _ =
          ledger
              .templates()
              .update(entry.failed(reason, step.map(Integer::longValue), clock.instant()));
    }
  }

  private void end(String build, BuildLog output) {
    try {
      output.close();
    } catch (IOException e) {
      log.warning("the log of the build " + build + " may be incomplete: " + e.getMessage());
    } finally {
      running.remove(build);
    }
  }

  /** Cancels the builds of a template and returns whether all of them have ended. */
  boolean cancel(String template) {
    return cancel(
        running.values().stream().filter(one -> one.template().equals(template)), CANCEL_TIMEOUT);
  }

  /** Cancels builds and waits at most the timeout for all of them together. */
  private static boolean cancel(Stream<Running> builds, Duration timeout) {
    List<Running> all = builds.toList();
    all.forEach(one -> one.thread().interrupt());
    Deadline deadline = Deadline.in(timeout);
    boolean ended = true;
    try {
      for (Running one : all) {
        ended &= one.thread().getState() != Thread.State.NEW && one.thread().join(deadline.left());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
    return ended;
  }

  /** Cancels all builds. The next server recovers those that do not end soon. */
  @Override
  public void close() {
    callers.values().forEach(Thread::interrupt);
    if (!cancel(running.values().stream(), Duration.ofSeconds(5))) {
      log.warning("a build did not end in time; the next server start marks it as failed");
    }
  }
}
