package dev.isola.engine.startup;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.codec.time.Deadline;
import dev.isola.engine.api.Startup;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileUser;
import dev.isola.spi.spec.VolumeMount;
import dev.isola.store.Failpoint;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Runs the startup of one sandbox. It ends when the ready command succeeds, the start command
 * fails, the sandbox is gone, the thread is interrupted, or the timeout expires. Everything that
 * waits for the sandbox runs on separate threads, so that a hanging sandbox cannot delay this. The
 * output of the start command is drained meanwhile, so that the command does not block, and only
 * its tail is kept.
 */
public final class StartupSequence {
  /** The tag of the start command in the list of executions. */
  public static final String TAG = "start";

  private static final Duration FIRST_PAUSE = Duration.ofMillis(10);
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(250);

  /** How long an interrupted task may take to end before it is abandoned. */
  private static final Duration RELEASE_TIMEOUT = Duration.ofSeconds(5);

  private static final OutputLimit READY_OUTPUT = new OutputLimit(0, OutputTail.MAX_BYTES);

  private final Sandbox sandbox;
  private final List<VolumeMount> volumes;
  private final Startup startup;
  private final StartupFailure failure;
  private final ExecutorService threads;
  private final CompletionService<Boolean> tasks;
  private final Deadline deadline;
  private final OutputTail output = new OutputTail();
  private volatile @Nullable Execution started;
  private volatile @Nullable ExecResult lastRun;

  /**
   * @param volumes the volumes of the sandbox
   */
  public StartupSequence(Sandbox sandbox, List<VolumeMount> volumes, Startup startup) {
    this.sandbox = sandbox;
    this.volumes = volumes;
    this.startup = startup;
    failure = new StartupFailure(sandbox.id());
    threads =
        Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("isola-startup-" + sandbox.id() + "-", 0).factory());
    tasks = new ExecutorCompletionService<>(threads);
    deadline = Deadline.in(startup.timeout());
  }

  /**
   * Runs the startup and returns when the sandbox is ready; the start command keeps running.
   *
   * @throws dev.isola.spi.error.InvalidRequest with {@code INIT_FAILED} if a command fails
   * @throws SandboxException if the sandbox does not respond, or the thread is interrupted
   */
  public void run() {
    try {
      Future<Boolean> _ = tasks.submit(this::runStart, true);
      awaitDone();
      Failpoint.CREATE_STARTING.reach();
      if (startup.ready().isPresent()) {
        Execution running = started;
        if (running != null) {
          Future<Boolean> _ = tasks.submit(() -> watch(running), false);
        }
        Future<Boolean> _ = tasks.submit(() -> awaitSuccess(startup.ready().get()));
        awaitDone();
      }
      Failpoint.CREATE_STARTED.reach();
    } finally {
      release();
    }
  }

  private void runStart() {
    startup.volumeOwner().ifPresent(this::chownVolumes);
    if (startup.start().isPresent()) {
      Command command = startup.start().get();
      try {
        started = sandbox.start(command.withTag(TAG));
      } catch (SandboxException e) {
        throw failure.of("start", command, e);
      }
    }
  }

  /** Changes the owner of new volumes, which belong to root. */
  private void chownVolumes(String user) {
    FileSystem all = sandbox.files().as(FileUser.rootFor(user));
    for (VolumeMount volume : volumes) {
      boolean writable = volume.type() == VolumeMount.Type.VOLUME && !volume.readOnly();
      if (writable && all.stat(volume.destination(), NOFOLLOW_LINKS).uid() == 0) {
        all.changeOwner(volume.destination(), user);
      }
    }
  }

  /** Drains the output of the start command; returns when it has succeeded. */
  private void watch(Execution running) {
    Command command = startup.start().orElseThrow();
    Exit exit;
    try {
      exit =
          running.follow(
              piece -> {
                if (piece instanceof Output.Data data) {
                  output.add(data.bytes());
                }
              });
    } catch (SandboxException e) {
      throw failure.of("start", command, e);
    }
    if (!exit.equals(new Exit.Exited(0))) {
      throw failure.startCommandFailed(command, exit, output.text());
    }
  }

  private boolean awaitSuccess(Command ready) throws InterruptedException {
    Duration pause = FIRST_PAUSE;
    while (true) {
      ExecResult result;
      try {
        result = sandbox.run(ready.withTimeout(time(ready)), READY_OUTPUT);
      } catch (SandboxException e) {
        throw failure.of("ready", ready, e);
      }
      if (result.succeeded()) {
        return true;
      }
      lastRun = result;
      Thread.sleep(pause);
      Duration longer = pause.multipliedBy(2);
      pause = longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
    }
  }

  /**
   * Returns the timeout of the ready command: its own, or the remaining time if that is shorter.
   */
  private Duration time(Command ready) {
    Duration left = deadline.left();
    return ready.timeout().filter(own -> own.compareTo(left) < 0).orElse(left);
  }

  /** Waits for a task that returns true. A task that throws before fails the startup. */
  private void awaitDone() {
    try {
      boolean done = false;
      while (!done) {
        Future<Boolean> ended = tasks.poll(deadline.leftNanos(), TimeUnit.NANOSECONDS);
        if (ended == null) {
          throw timedOut();
        }
        done = ended.get();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(
              ErrorCode.CANCELLED,
              "interrupted while the startup of sandbox " + sandbox.id() + " ran",
              "create the sandbox again")
          .sandbox(sandbox.id())
          .exception(e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof SandboxException known
          ? known
          : Fault.of(
                  ErrorCode.INTERNAL,
                  "the startup of sandbox " + sandbox.id() + " failed: " + e.getCause(),
                  "check the server log")
              .sandbox(sandbox.id())
              .exception(e);
    }
  }

  private SandboxException timedOut() {
    boolean begun = startup.start().isEmpty() || started != null;
    return begun && startup.ready().isPresent()
        ? failure.notReady(
            startup.ready().get(), startup.timeout(), Optional.ofNullable(lastRun), output.text())
        : failure.timedOut(startup.timeout());
  }

  /** Ends the threads and detaches from the start command, which keeps running. */
  private void release() {
    threads.shutdownNow();
    try {
      boolean _ = threads.awaitTermination(RELEASE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Execution running = started;
    if (running != null) {
      running.close();
    }
  }
}
