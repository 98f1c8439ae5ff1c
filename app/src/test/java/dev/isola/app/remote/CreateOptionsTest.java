package dev.isola.app.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.LiveServer;
import dev.isola.app.cli.ExitCodes;
import dev.isola.spi.LimitKind;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import dev.isola.testing.fake.FakeProvider;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The options of {@code isola create}, as a provider receives them. */
@Timeout(120)
class CreateOptionsTest {
  @TempDir static Path data;
  private static final FakeProvider FAKE = new FakeProvider("fake");
  private static LiveServer server;

  @TempDir Path folder;

  @BeforeAll
  static void start() {
    FAKE.limits = Set.of(LimitKind.CPU, LimitKind.MEMORY, LimitKind.PROCESSES);
    server = LiveServer.start(data, FAKE, "allow_host_folders=true");
  }

  @AfterAll
  static void end() {
    server.close();
  }

  private CommandResult isola(String... args) {
    CommandLineFixture fixture = new CommandLineFixture(folder.resolve("data"));
    fixture.env.put("XDG_CONFIG_HOME", folder.resolve("config").toString());
    fixture.env.put("ISOLA_URL", server.url);
    fixture.env.put("ISOLA_API_KEY", LiveServer.KEY);
    return fixture.call(args);
  }

  @Test
  void requestedLimitsThatAreNotEnforcedAreReported() {
    Set<LimitKind> enforced = FAKE.limits;
    FAKE.limits = Set.of(LimitKind.CPU);
    try (LiveServer other = LiveServer.start(folder.resolve("other"), FAKE)) {
      CommandLineFixture fixture = new CommandLineFixture(folder.resolve("data"));
      fixture.env.put("XDG_CONFIG_HOME", folder.resolve("config").toString());
      fixture.env.put("ISOLA_URL", other.url);
      fixture.env.put("ISOLA_API_KEY", LiveServer.KEY);
      assertThat(fixture.call("create", "--cpu", "0.5", "--memory", "64").err())
          .isEqualTo(
              "isola: --memory is not enforced: fake cannot limit memory on the machine of the"
                  + " server; run isola doctor for details\n");
      assertThat(fixture.call("create", "--cpu", "0.5").err()).isEmpty();
    } finally {
      FAKE.limits = enforced;
    }
  }

  @Test
  void optionsReachTheProvider() {
    CommandResult created =
        isola(
            "create",
            "--user",
            "agent",
            "--workdir",
            "/work",
            "--cpu",
            "0.5",
            "--memory",
            "2g",
            "--processes",
            "7",
            "--ttl",
            "1h",
            "--mount",
            folder + ":/data:ro");
    assertThat(created.err()).isEmpty();
    SandboxSpec spec = FAKE.specs.getLast();
    assertThat(spec.user()).contains("agent");
    assertThat(spec.cwd()).contains("/work");
    assertThat(spec.limits().cpu()).isEqualTo(0.5);
    assertThat(spec.limits().memoryMb()).isEqualTo(2048);
    assertThat(spec.limits().processes()).isEqualTo(7);
    assertThat(spec.volumes()).containsExactly(VolumeMount.bind(folder.toString(), "/data", true));
    assertThat(spec.deadline())
        .hasValueSatisfying(
            deadline -> assertThat(deadline).isGreaterThanOrEqualTo(Duration.ofHours(1)));
    assertThat(isola("rm", created.out().strip()).code()).isZero();
  }

  @Test
  void invalidValueNamesTheOptionAndAnExample() {
    assertThat(isola("create", "--memory", "lots").err())
        .isEqualTo(
            "isola: --memory 'lots' is not a size; use a value such as 512m or 2g, or a number of"
                + " megabytes\n");
    assertThat(isola("create", "--ttl", "long").err()).contains("--ttl 'long'", "30s");
    assertThat(isola("create", "--cpu", "two").err()).contains("--cpu 'two'", "0.5");
    assertThat(isola("create", "--processes", "x").err()).contains("--processes 'x'", "100");
    CommandResult relative = isola("create", "--mount", "./here:/data");
    assertThat(relative.code()).isEqualTo(ExitCodes.USAGE);
    assertThat(relative.err()).contains("--mount './here:/data'", "data:/data", "isola cp");
    assertThat(isola("create", "--mount", "data").err()).contains("SRC:DST", "a volume");
    assertThat(isola("create", "--mount", "named:/data").err()).contains("volumes of type volume");
  }
}
