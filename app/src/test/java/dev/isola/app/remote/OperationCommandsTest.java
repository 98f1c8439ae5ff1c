package dev.isola.app.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.LiveServer;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Commands against a real server with the subprocess provider: exec --shell, status, wait, events
 * --type, rm --timeout, batch.
 */
@Timeout(180)
class OperationCommandsTest {
  @TempDir static Path data;
  private static LiveServer server;

  @TempDir Path folder;
  private String id;

  @BeforeAll
  static void start() {
    server = LiveServer.start(data);
  }

  @AfterAll
  static void end() {
    server.close();
  }

  @BeforeEach
  void make() {
    CommandResult made = isola("create", "--ttl", "10m");
    assertThat(made.err()).isEmpty();
    id = made.out().strip();
  }

  @AfterEach
  void destroy() {
    assertThat(isola("rm", "--force", id).code()).isZero();
  }

  private CommandLineFixture fixture() {
    CommandLineFixture fixture = new CommandLineFixture(folder.resolve("data"));
    fixture.env.put("XDG_CONFIG_HOME", folder.resolve("config").toString());
    fixture.env.put("ISOLA_URL", server.url);
    fixture.env.put("ISOLA_API_KEY", LiveServer.KEY);
    return fixture;
  }

  private CommandResult isola(String... args) {
    return fixture().call(args);
  }

  @Test
  void execShellQuotesArguments() {
    CommandResult shell =
        isola("exec", "--shell", id, "--", "printf '%s|'", "a b", "$HOME", "'; echo injected; '");
    assertThat(shell.err()).isEmpty();
    assertThat(shell.out()).isEqualTo("a b|$HOME|'; echo injected; '|");
    assertThat(isola("exec", "--shell", id, "--", "exit", "7").code()).isEqualTo(7);
    assertThat(isola("exec", id, "--", "echo", "$HOME").out()).isEqualTo("$HOME\n");
  }
}
