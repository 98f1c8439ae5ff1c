package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.client.Command;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The Java SDK against a real server with the subprocess provider: command modes, status, waiting,
 * subscriptions, destroy options, batches of files, problems.
 */
@Timeout(120)
class JavaSdkOperationsTest {
  @TempDir static Path data;
  private static LiveServer server;
  private static Isola isola;
  private Sandbox sandbox;

  @BeforeAll
  static void start() {
    server = LiveServer.start(data);
    isola = server.client();
  }

  @AfterAll
  static void end() {
    isola.close();
    server.close();
  }

  @BeforeEach
  void make() {
    sandbox = isola.create();
  }

  @AfterEach
  void destroy() {
    sandbox.destroy(true);
  }

  @Test
  void argumentsOfAShellCommandAreQuoted() {
    Command command = Command.shell("printf '%s|'", "a b", "$HOME", "'; echo injected; '");
    assertThat(sandbox.exec(command).stdout()).isEqualTo("a b|$HOME|'; echo injected; '|");
    assertThat(sandbox.start(command).await().shellCode()).isZero();
    assertThatThrownBy(
            () ->
                new Command(
                    Optional.empty(),
                    List.of("x"),
                    List.of("echo"),
                    Map.of(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty()))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
