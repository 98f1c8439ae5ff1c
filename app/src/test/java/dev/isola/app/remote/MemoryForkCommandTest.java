package dev.isola.app.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.LiveServer;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Fork;
import dev.isola.client.ForkOptions;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.testing.provider.FakeMemoryForking;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** N4: {@code isola fork --kind memory} and the Java SDK, on a fake that declares such forks. */
@Timeout(180)
class MemoryForkCommandTest {
  @TempDir Path folder;
  private final FakeMemoryForking fake = new FakeMemoryForking();
  private LiveServer server;

  @BeforeEach
  void start() {
    server = LiveServer.start(folder.resolve("server"), fake, "floor=process");
  }

  @AfterEach
  void end() {
    try (Isola isola = Isola.connect(server.url, LiveServer.KEY)) {
      isola.list(SandboxFilter.ALL).forEach(one -> isola.sandbox(one.id()).destroy());
    }
    server.close();
    assertThat(fake.open).as("fork points that were not closed").hasValue(0);
  }

  private CommandResult isola(String... args) {
    CommandLineFixture fixture = new CommandLineFixture(folder.resolve("data"));
    fixture.env.put("XDG_CONFIG_HOME", folder.resolve("config").toString());
    fixture.env.put("ISOLA_URL", server.url);
    fixture.env.put("ISOLA_API_KEY", LiveServer.KEY);
    fixture.env.put("PLANTED", "planted-secret-90aa");
    return fixture.call(args);
  }

  @Test
  void commandForksMemory() {
    String id = isola("create").out().strip();
    assertThat(isola("fork", id, "-n", "2", "--kind", "memory").out()).hasLineCount(2);
    assertThat(fake.points).hasValue(1);
    assertThat(isola("fork", id, "--kind", "memory", "--json").out())
        .contains("\"kind\":\"memory\"", "\"by\":\"memory\"");
    assertThat(isola("fork", id, "-n", "101", "--kind", "memory").code())
        .isEqualTo(ExitCodes.NOT_RUN);
    assertThat(fake.points).hasValue(2);
  }

  @Test
  void commandNeedsAnOptionForSecrets() {
    String id = isola("create", "--secret-env", "PLANTED").out().strip();
    CommandResult refused = isola("fork", id, "--kind", "memory");
    assertThat(refused.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(refused.err()).contains("PLANTED", "--allow-secrets").doesNotContain("planted-");
    assertThat(fake.points).hasValue(0);
    assertThat(isola("fork", id, "--kind", "memory", "--allow-secrets").code()).isZero();
  }

  @Test
  void sdkForksMemoryAllOrNone() {
    try (Isola isola = Isola.connect(server.url, LiveServer.KEY);
        Sandbox sandbox = isola.create()) {
      List<Sandbox> forks = sandbox.fork(ForkOptions.memory().count(2));
      assertThat(forks).hasSize(2);
      forks.forEach(Sandbox::close);
      fake.beforeFork =
          number -> {
            if (number == 4) {
              throw Fault.of(ErrorCode.CONFLICT, "it differs", "fork it again").exception();
            }
          };
      assertThatThrownBy(() -> sandbox.fork(ForkOptions.memory().count(3)))
          .isInstanceOf(Conflict.class);
      assertThat(isola.list(SandboxFilter.ALL)).hasSize(1);
      Fork each = sandbox.forkEach(ForkOptions.memory().allowingSecrets()).getFirst();
      assertThat(each.kind()).isEqualTo("memory");
      assertThat(each.by()).contains("memory");
    }
  }
}
