package dev.isola.engine.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.leak.LeakDetector;
import dev.isola.conformance.leak.ResourceScan;
import dev.isola.engine.FakeLog;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server stops while fifty commands run in fifty sandboxes; the next one misses no output. */
@Tag("all")
class FiftyCommandsTest {
  private static final int SANDBOXES = 50;

  /** At five lines per second, a command long outlives its server. */
  private static final int LINES = 100;

  /** Allowance for files that the JVM opens once, far less than one per sandbox. */
  private static final Map<String, Integer> KEPT = Map.of("sockets", 5, "other descriptors", 10);

  private static final Duration TIMEOUT = Duration.ofMinutes(2);

  /** A command in a sandbox, started by the first server. */
  private record Started(SandboxId sandbox, ExecutionId execution, int number) {}

  @BeforeEach
  void needsBubblewrap() {
    if (BubblewrapAvailability.health() instanceof Health.Unhealthy ill) {
      abort("NOT RUN: " + ill.reason());
    }
  }

  @Test
  void executionsSurviveACleanShutdown() throws InterruptedException {
    across(
        child -> {
          child.say("close");
          assertThat(child.next(TIMEOUT)).contains("closed");
        });
  }

  @Test
  void executionsSurviveSigkill() throws InterruptedException {
    across(ChildProcess::kill);
  }

  private interface ShutdownMethod {
    void of(ChildProcess child) throws InterruptedException;
  }

  private void across(ShutdownMethod ending) throws InterruptedException {
    try (TemporaryFolder scratch = TemporaryFolder.create("isola-fifty-")) {
      InstanceId instance = new InstanceId("f" + SandboxId.random(new SecureRandom()));
      CrashSite site = new CrashSite(instance, scratch.path(), List.of());
      LeakDetector leaks = new LeakDetector(instance, site.data());
      ResourceScan before = leaks.scan().allowingDescriptors(KEPT);
      List<Started> started = start(site, ending);
      try (CrashServer server =
          CrashServer.open(site, "", PlantedBug.NOTHING, new FakeLog(), none -> {})) {
        assertAllRun(server, started);
        for (Started one : started) {
          assertComplete(server, one);
        }
        for (Started one : started) {
          server.engine.sandboxes().destroy(one.sandbox(), DestroyOptions.FORCE);
        }
      }
      assertThat(leaks.leakedSince(before)).isEmpty();
    }
  }

  private static List<Started> start(CrashSite site, ShutdownMethod ending)
      throws InterruptedException {
    List<Started> started = new ArrayList<>();
    try (ChildProcess child =
        ChildProcess.start(
            FiftyCommandsChild.class,
            Optional.empty(),
            site.folder().resolve("child.log"),
            List.of(
                site.instance().value(),
                site.folder().toString(),
                Integer.toString(SANDBOXES),
                Integer.toString(LINES)))) {
      String line = next(child);
      while (!line.equals("all")) {
        String[] words = line.split(" ");
        started.add(
            new Started(
                new SandboxId(words[1]), new ExecutionId(words[2]), Integer.parseInt(words[3])));
        line = next(child);
      }
      ending.of(child);
      assertThat(child.endsWithin(TIMEOUT)).isTrue();
    }
    assertThat(started).hasSize(SANDBOXES);
    return started;
  }

  private static String next(ChildProcess child) throws InterruptedException {
    return child.next(TIMEOUT).orElseThrow(() -> new AssertionError("the server died"));
  }

  /** Control: the commands have not already ended. */
  private static void assertAllRun(CrashServer server, List<Started> started) {
    List<Started> ended = new ArrayList<>();
    for (Started one : started) {
      assertThat(server.engine.sandboxes().view(one.sandbox()).state())
          .isEqualTo(SandboxState.RUNNING);
      List<ExecutionInfo> executions = attaching(server, one).executions();
      assertThat(executions)
          .singleElement()
          .satisfies(info -> assertThat(info.id()).isEqualTo(one.execution()));
      if (!executions.getFirst().running()) {
        ended.add(one);
      }
    }
    assertThat(ended).as("commands that ended before the next server started").isEmpty();
  }

  private static void assertComplete(CrashServer server, Started one) {
    StringBuilder text = new StringBuilder();
    try (Execution again = attaching(server, one).attach(one.execution(), 0)) {
      Optional<Output> piece = again.read();
      while (piece.isPresent()) {
        assertThat(piece.get()).isInstanceOf(Output.Data.class);
        assertThat(piece.get().offset()).isEqualTo(text.length());
        text.append(((Output.Data) piece.get()).bytes().utf8());
        piece = again.read();
      }
      assertThat(again.await()).isEqualTo(new Exit.Exited(FiftyCommandsChild.exit(one.number())));
    }
    String wanted =
        IntStream.range(0, LINES)
            .mapToObj(i -> one.number() + " line " + i + "\n")
            .collect(Collectors.joining());
    assertThat(text.toString()).isEqualTo(wanted);
  }

  private static Attaching attaching(CrashServer server, Started one) {
    return server.engine.sandboxes().get(one.sandbox()).as(Attaching.class).orElseThrow();
  }
}
