package dev.isola.engine.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.leak.LeakDetector;
import dev.isola.conformance.leak.ResourceScan;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.Failpoint;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server is killed during a startup, or after it and before that is recorded. */
@Tag("all")
class StartupCrashTest {
  private static final Duration TIMEOUT = Duration.ofMinutes(2);
  private static final String KEY = ClientTraffic.WITH_STARTUP + "1";

  @ParameterizedTest
  @EnumSource(
      value = Failpoint.class,
      names = {"CREATE_STARTING", "CREATE_STARTED"})
  void killedStartupLeavesNothingBehindAndARepeatedCreateSucceeds(Failpoint point)
      throws InterruptedException {
    try (TemporaryFolder scratch = TemporaryFolder.create("isola-startup-")) {
      CrashSite site =
          new CrashSite(
              new InstanceId("s" + SandboxId.random(new SecureRandom())),
              scratch.path(),
              List.of());
      LeakDetector leaks = new LeakDetector(site.instance(), site.data());
      ResourceScan before = leaks.scan();
      try (ChildProcess first = start(site, 1, Optional.of(point.toString()))) {
        expect(first, "ready");
        first.say("retry " + KEY);
        assertThat(first.endsWithin(TIMEOUT)).isTrue();
        assertThat(first.stoppedAtFailpoint()).isTrue();
        assertThat(first.next(TIMEOUT)).as("nothing was acknowledged").isEmpty();
      }
      try (ChildProcess second = start(site, 2, Optional.empty())) {
        expect(second, "ready");
        StateDump recovered = dump(second);
        assertThat(recovered.entries.values())
            .extracting(StateDump.Entry::state)
            .containsExactly(SandboxState.DESTROYED);
        assertThat(recovered.seen).isEmpty();
        assertThat(leaks.scan().resources()).isEmpty();

        second.say("retry " + KEY);
        String[] created = next(second).split(" ");
        assertThat(created[0]).isEqualTo("created");
        StateDump repeated = dump(second);
        assertThat(Objects.requireNonNull(repeated.entries.get(created[1])).state())
            .isEqualTo(SandboxState.RUNNING);
        assertThat(repeated.seen).containsOnlyKeys(created[1]);
        assertThat(repeated.unready).isEmpty();
        second.say("finish");
        expect(second, "finished");
      }
      assertThat(leaks.leakedSince(before)).isEmpty();
    }
  }

  /** Each child has a different seed, because sandbox ids are derived from it. */
  private static ChildProcess start(CrashSite site, long seed, Optional<String> failpoint) {
    return ChildProcess.start(
        EngineCrashChild.class,
        failpoint,
        site.folder().resolve("child.log"),
        List.of(
            site.instance().value(),
            site.folder().toString(),
            Long.toString(seed),
            PlantedBug.NOTHING.name(),
            "",
            "shutdown: drain"));
  }

  private static StateDump dump(ChildProcess child) throws InterruptedException {
    child.say("dump");
    StateDump dump = new StateDump();
    for (String line = next(child); !line.equals("dumped"); line = next(child)) {
      dump.parse(line);
    }
    return dump;
  }

  private static void expect(ChildProcess child, String wanted) throws InterruptedException {
    assertThat(next(child)).isEqualTo(wanted);
  }

  private static String next(ChildProcess child) throws InterruptedException {
    return child.next(TIMEOUT).orElseThrow(() -> new AssertionError("the server died"));
  }
}
