package dev.isola.provider.subprocess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Process trees that escape a naive kill, against every way a tree is ended. Each test first checks
 * that the tree is alive.
 */
@Timeout(60)
final class ProcessTreeCleanupTest extends SubprocessFixture {
  private static final Duration GRACE = Duration.ofSeconds(2);
  private static final Duration LONGEST = Duration.ofMinutes(1);

  /** A shell script, and the minimum number of its processes. */
  enum Shape {
    PLAIN(3, "sleep 1000 & sleep 1000 & wait"),
    SETSID(3, "setsid sleep 1000 & setsid sleep 1000 & wait"),
    DOUBLE_FORK(3, "(setsid sh -c 'sleep 1000 & sleep 1000 &' &); sleep 1000"),
    NOHUP(2, "nohup sleep 1000 >/dev/null 2>&1 & sleep 1000"),
    TERM_IGNORED(3, "sh -c 'trap \"\" TERM INT HUP QUIT; while :; do sleep 1; done' & sleep 1000"),
    STOPPED(3, "sleep 1000 & kill -STOP $!; sleep 1000 & wait"),
    PIPE_HOLDER(3, "sleep 1000 | sleep 1000 & sleep 1000"),
    DEEP_CHAIN(
        30,
        "deep() { if [ $1 -eq 0 ]; then sleep 1000; else (deep $(($1-1)); true); fi; }; deep 30"),
    WIDE_FAN(61, "i=0; while [ $i -lt 60 ]; do sleep 1000 & i=$((i+1)); done; wait"),
    /** A chain of short processes: each starts the next in a new session, and exits. */
    RESPAWNER(
        2,
        "H='N=$((N+1)); [ $N -lt 20000 ] || exit; sleep 0.01; setsid sh -c \"$H\" & exit 0';"
            + " N=0; export H N; sh -c \"$H\" & sh -c \"$H\" & sleep 1000"),
    CLOSED_DESCRIPTORS(2, "(sleep 1000 <&- >&- 2>&- &); sleep 1000"),
    DAEMON(
        3,
        "(cd /; umask 0; setsid sh -c 'sleep 1000 & exec sleep 1000' </dev/null >/dev/null 2>&1 &);"
            + " sleep 1000"),
    OTHER_GROUPS(3, "exec bash -c 'set -m; sleep 1000 & sleep 1000 & wait'"),
    EXEC_CHAIN(3, "exec sh -c 'sleep 1000 & exec sh -c \"sleep 1000 & exec sleep 1000\"'");

    final int least;
    final String text;

    Shape(int least, String text) {
      this.least = least;
      this.text = text;
    }

    Command marked(String mark) {
      return Command.shell(text).withEnv("ISOLA_MARK", mark);
    }
  }

  /** Returns how many processes have {@code mark} in their environment. */
  private static int alive(String mark) {
    int found = 0;
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[1-9]*")) {
      for (Path process : processes) {
        try {
          if (Files.readString(process.resolve("environ"), StandardCharsets.ISO_8859_1)
              .contains(mark)) {
            found++;
          }
        } catch (IOException gone) {
          // it ended, or belongs to another user
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return found;
  }

  private static void awaitAlive(Shape shape, String mark) {
    await()
        .pollInterval(Duration.ofMillis(10))
        .atMost(Duration.ofSeconds(10))
        .until(() -> alive(mark) >= shape.least);
  }

  /** A single scan can miss a process, so several scans must find nothing. */
  private static void awaitDead(String mark) {
    await()
        .pollInterval(Duration.ofMillis(20))
        .atMost(GRACE)
        .until(() -> IntStream.range(0, 3).allMatch(look -> alive(mark) == 0));
  }

  private static String mark() {
    return UUID.randomUUID().toString();
  }

  /** Repeated with longer timeouts until the tree was complete: a busy machine may be too slow. */
  @ParameterizedTest
  @EnumSource
  void nothingSurvivesATimeout(Shape shape) {
    Sandbox sandbox = create();
    Duration timeout = Duration.ofMillis(900);
    while (!wasCompleteBefore(timeout, shape, sandbox)) {
      timeout = timeout.multipliedBy(4);
      assertThat(timeout).as("the timeout before which the tree is complete").isLessThan(LONGEST);
    }
  }

  /** Runs the shape until its timeout and returns whether all of its processes were seen alive. */
  private static boolean wasCompleteBefore(Duration timeout, Shape shape, Sandbox sandbox) {
    String mark = mark();
    boolean complete = false;
    try (Execution execution = sandbox.start(shape.marked(mark).withTimeout(timeout))) {
      while (!complete && execution.await(Duration.ofMillis(10)).isEmpty()) {
        complete = alive(mark) >= shape.least;
      }
      assertThat(execution.await()).isInstanceOf(Exit.TimedOut.class);
      assertThat(alive(mark)).as("dead when the timeout is reported, not later").isZero();
    }
    awaitDead(mark);
    return complete;
  }

  @ParameterizedTest
  @EnumSource
  void nothingSurvivesACancelledRun(Shape shape) throws InterruptedException {
    String mark = mark();
    Sandbox sandbox = create();
    AtomicReference<ErrorCode> code = new AtomicReference<>();
    Thread caller =
        Thread.startVirtualThread(
            () -> {
              try {
                sandbox.run(shape.marked(mark));
              } catch (SandboxException e) {
                code.set(e.code());
              }
            });
    awaitAlive(shape, mark);
    caller.interrupt();
    caller.join();
    assertThat(code.get()).isEqualTo(ErrorCode.CANCELLED);
    awaitDead(mark);
  }

  @ParameterizedTest
  @EnumSource
  void nothingSurvivesAKillAndNothingElseIsTouched(Shape shape) {
    String mark = mark();
    String other = mark();
    Sandbox sandbox = create();
    try (Execution killed = sandbox.start(shape.marked(mark));
        Execution spared = sandbox.start(Shape.PLAIN.marked(other))) {
      awaitAlive(shape, mark);
      awaitAlive(Shape.PLAIN, other);
      killed.kill();
      awaitDead(mark);
      assertThat(alive(other)).as("the other command is not touched").isEqualTo(3);
      assertThat(spared.await(Duration.ofMillis(1))).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void nothingSurvivesADestroy(Shape shape) {
    String mark = mark();
    Sandbox sandbox = create();
    try (Execution execution = sandbox.start(shape.marked(mark))) {
      awaitAlive(shape, mark);
      assertThat(execution.pid()).isPositive();
    }
    assertThat(alive(mark)).as("closing the handle ends nothing").isPositive();
    provider.destroy(sandbox.id(), DestroyOptions.NORMAL);
    assertThat(alive(mark)).as("dead when destroy returns, not later").isZero();
    awaitDead(mark);
  }

  /**
   * A short-lived server: creates a sandbox that does not outlive it, starts every shape, and
   * waits.
   */
  static final class CrashingServer {
    public static void main(String[] words) throws InterruptedException {
      Provider provider =
          new SubprocessProviderFactory()
              .create(
                  ProviderConfig.EMPTY,
                  new ProviderContext(
                      new InstanceId(INSTANCE), Path.of(words[0]), InstantSource.system()));
      Sandbox sandbox =
          provider.create(
              SandboxSpec.builder(new SandboxId("victim"))
                  .deadline(Duration.ofMinutes(1))
                  .linger(Duration.ZERO)
                  .build());
      for (Shape shape : Shape.values()) {
        sandbox.start(shape.marked(words[1] + shape));
      }
      System.out.println("started");
      Thread.currentThread().join();
    }
  }

  @Test
  void nothingSurvivesAServerCrash() throws Exception {
    String mark = mark();
    Process victim =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin/java").toString(),
                    "-Xmx64m",
                    "-cp",
                    System.getProperty("java.class.path"),
                    CrashingServer.class.getName(),
                    data.toString(),
                    mark))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader out = victim.inputReader()) {
      assertThat(out.readLine()).isEqualTo("started");
      for (Shape shape : Shape.values()) {
        awaitAlive(shape, mark + shape);
      }
    } finally {
      victim.destroyForcibly().waitFor();
    }
    await().atMost(GRACE).until(() -> alive(mark) == 0);
    Map<Shape, Integer> survivors = new EnumMap<>(Shape.class);
    for (Shape shape : Shape.values()) {
      int left = alive(mark + shape);
      if (left > 0) {
        survivors.put(shape, left);
      }
    }
    assertThat(survivors).isEmpty();
  }
}
