package dev.isola.provider.memory;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.provider.memory.fault.Faults;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the simulated shell does, beyond what the contract asks of every shell. */
@Timeout(30)
class ShellTest {
  private final MemorySandbox sandbox =
      new MemorySandbox(
          SandboxSpec.builder(new SandboxId("shell")).build(),
          Instant.now(),
          Faults.NONE,
          spec -> {
            throw new UnsupportedOperationException("nobody forks it");
          });

  @AfterEach
  void end() {
    sandbox.end("the test is over");
  }

  private ExecResult sh(String text) {
    return sandbox.run(Command.shell(text).withTimeout(Duration.ofSeconds(20)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '→',
      quoteCharacter = '~',
      value = {
        "echo a  b → a b",
        "A=1; A=2 env | cat >/dev/null; echo $A → 1",
        "for x in a b c; do printf '%s-' $x; done → a-b-c-",
        "i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; echo $i → 3",
        "if false; then echo x; elif true; then echo y; fi → y",
        "case abc in a*) echo yes;; *) echo no;; esac → yes",
        "f() { echo $1 $#; }; f one two → one 2",
        "x=$(echo one; echo two); echo \"$x\" | wc -l → 2",
        "(exit 3); echo $? → 3",
        "{ echo out; echo err >&2; } 2>&1 | cat → out err",
        "printf '%03d|%s|%x' 7 a 255 → 007|a|ff",
        "seq 1 5 | while read n; do printf $n; done → 12345",
        "x=file.tar.gz; echo ${x%%.*} ${x#*.} ${#x} ${y:-none} → file tar.gz 11 none",
        "touch b.txt a.txt; echo *.txt '*.txt' → a.txt b.txt *.txt",
        "set -- a 'b c'; for x in \"$@\"; do echo $x; done → a b c",
        "sleep 30 & kill $!; wait $!; echo $? → 143",
        "trap 'echo bye' EXIT; echo hi → hi bye",
        "yes | head -n 2 → y y",
        "echo a b | { read x y; echo $y$x; } → ba",
        "sh -c 'echo $0 $1' zero one → zero one",
        "command -v while cat >/dev/null; echo $? → 0",
        "cd /tmp && pwd; test -d . && [ ! -e none ] && echo ok → /tmp ok",
      })
  void says(String text, String expected) {
    assertThat(sh(text).stdout().text().strip().replace("\n", " ")).isEqualTo(expected.strip());
  }

  @Test
  void bytesPassUnharmed() {
    sh("printf '\\377\\000\\001' > raw; cat raw raw > twice");
    assertThat(sandbox.files().readBytes("twice", 10)).containsExactly(-1, 0, 1, -1, 0, 1);
    assertThat(sh("x='größe'; echo \"$x\"").stdout().text()).isEqualTo("größe\n");
  }

  @Test
  void saysWhatItCannotRun() {
    ExecResult missing = sh("nothing-like-it");
    assertThat(missing.exitCode()).isEqualTo(127);
    assertThat(missing.stderr().text()).isEqualTo("sh: nothing-like-it: not found\n");
    sandbox.files().writeText("plain", "echo x", UTF_8);
    assertThat(sh("./plain").exitCode()).isEqualTo(126);
    assertThatThrownBy(() -> sandbox.run(Command.argv("./plain")))
        .isInstanceOfSatisfying(
            InvalidRequest.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.COMMAND_NOT_EXECUTABLE));
    sandbox.files().changeMode("plain", 0755);
    assertThat(sandbox.run(Command.argv("./plain")).stdout().text()).isEqualTo("x\n");
  }

  @Test
  void signalsEndOrAreHandled() {
    assertThat(sh("kill -9 $$").exit()).isEqualTo(new Exit.Signaled(Signal.KILL));
    assertThat(sh("trap 'echo got; exit 4' TERM; kill $$; echo never").stdout().text())
        .isEqualTo("got\n");
    assertThat(sh("trap '' TERM; kill $$; echo still").stdout().text()).isEqualTo("still\n");
    assertThat(sh("sleep 30 & kill -STOP $!; kill -CONT $!; kill -9 $!; wait $!").exitCode())
        .isEqualTo(137);
  }
}
