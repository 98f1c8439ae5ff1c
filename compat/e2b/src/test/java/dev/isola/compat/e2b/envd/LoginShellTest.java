package dev.isola.compat.e2b.envd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import org.junit.jupiter.api.Test;

class LoginShellTest {
  /** Starts a command in a sandbox whose image has only sh. */
  private static Command startWithShOnly(Command command) {
    if (!command.program().equals("/bin/sh")) {
      throw Fault.of(ErrorCode.COMMAND_NOT_FOUND, "no such program", "install it").exception();
    }
    return command;
  }

  @Test
  void shTakesThePlaceOfAMissingBash() {
    Command wanted =
        Command.argv("/bin/bash", "-l", "-c", "echo hi")
            .withUser("user")
            .withCwd("/home/user")
            .withEnv("A", "b")
            .withTag("mine")
            .withStdin();
    Command started = LoginShell.start(wanted, LoginShellTest::startWithShOnly);
    assertThat(started.program()).isEqualTo("/bin/sh");
    assertThat(started.args()).containsExactly("-l", "-c", "echo hi");
    assertThat(started.user()).contains("user");
    assertThat(started.cwd()).contains("/home/user");
    assertThat(started.env()).containsEntry("A", "b");
    assertThat(started.tag()).contains("mine");
    assertThat(started.stdin()).isTrue();
  }

  @Test
  void onlyAMissingBashIsReplaced() {
    Command bash = Command.argv("/bin/bash", "-l");
    Command started = LoginShell.start(bash, command -> command);
    assertThat(started).isSameAs(bash);
    assertThatThrownBy(
            () -> LoginShell.start(Command.argv("/bin/zsh"), LoginShellTest::startWithShOnly))
        .isInstanceOf(SandboxException.class);
    assertThatThrownBy(
            () ->
                LoginShell.start(
                    bash,
                    command -> {
                      throw Fault.of(ErrorCode.USER_NOT_FOUND, "no such user", "use another")
                          .exception();
                    }))
        .isInstanceOf(SandboxException.class)
        .hasMessageContaining("no such user");
  }
}
