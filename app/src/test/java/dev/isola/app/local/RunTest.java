package dev.isola.app.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.spi.Bytes;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import dev.isola.testing.fake.FakeProvider;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunTest {
  @TempDir Path folder;
  private final FakeProvider fake = new FakeProvider("bubblewrap");

  private CommandLineFixture isola() {
    return new CommandLineFixture(folder.resolve("data"), fake);
  }

  @Test
  void passesOutputAndExitCodeThrough() {
    CommandResult echo = isola().call("run", "--", "echo", "hello");
    assertThat(echo).isEqualTo(new CommandResult(0, Bytes.utf8("hello\n"), ""));
    assertThat(isola().call("run", "warn", "careful").err()).isEqualTo("careful\n");
    assertThat(isola().call("run", "bytes").rawOut().toArray())
        .containsExactly(0, 0xff, 0xfe, '\r', '\n');
    assertThat(fake.alive).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "exit 0, 0",
    "exit 7, 7",
    "exit 255, 255",
    "kill 15, 143",
    "kill 9, 137",
    "oom, 137",
    "lose, 125",
    "nosuch, 127",
    "/etc/passwd, 126"
  })
  void exitsWithTheCodeOfTheCommand(String words, int code) {
    String[] args = ("run -- " + words).split(" ");
    assertThat(isola().call(args).code()).isEqualTo(code);
    assertThat(fake.alive).isEmpty();
  }

  @Test
  void reportsATimeout() {
    CommandResult slow = isola().call("run", "--timeout", "1500ms", "sleep");
    assertThat(slow.code()).isEqualTo(124);
    assertThat(slow.err()).isEqualTo("isola: timed out after 1.5 s; increase --timeout\n");
  }

  @Test
  void reportsTheLimitsThatTheCommandReached() {
    CommandResult crowd = isola().call("run", "crowd");
    assertThat(crowd.code()).isEqualTo(137);
    assertThat(crowd.err())
        .isEqualTo("isola: the process limit was reached; increase --processes\n");
    assertThat(isola().call("run", "--json", "crowd").out())
        .contains("\"limitsMet\":[\"processes\"]");
  }

  @Test
  void passesStandardInput() {
    assertThat(isola().stdin("from outside").call("run", "cat").out()).isEqualTo("from outside");
    assertThat(fake.commands.getFirst().stdin()).isTrue();
  }

  @Test
  void passesArgumentsAfterTheCommandLiterally() {
    isola().call("run", "--", "echo", "--json", "--", "-v", "@/etc/passwd", "$HOME", "", "'q'");
    isola().call("run", "echo", "-l", "--timeout", "x");
    assertThat(fake.commands.get(0).args())
        .containsExactly("--json", "--", "-v", "@/etc/passwd", "$HOME", "", "'q'");
    assertThat(fake.commands.get(1).args()).containsExactly("-l", "--timeout", "x");
    assertThat(fake.commands.get(0).mode()).isEqualTo(Command.Mode.ARGV);
  }

  @Test
  void mapsOptionsToTheSpec() {
    isola()
        .call(
            "run",
            "-e",
            "A=1",
            "--env",
            "B=x=y",
            "-w",
            "sub",
            "--workspace",
            folder.toString(),
            "--mount",
            folder + ":/in:ro",
            "--cpu",
            "0.5",
            "--memory",
            "64",
            "--processes",
            "7",
            "--threads",
            "70",
            "--timeout",
            "1h30m",
            "--user",
            "me",
            "--network",
            "none",
            "true");
    SandboxSpec spec = fake.specs.getFirst();
    Command command = fake.commands.getFirst();
    assertThat(command.env()).isEqualTo(Map.of("A", "1", "B", "x=y"));
    assertThat(command.cwd()).contains("sub");
    assertThat(command.timeout()).contains(Duration.ofMinutes(90));
    assertThat(spec.workspacePath()).contains(folder);
    assertThat(spec.volumes()).containsExactly(VolumeMount.bind(folder.toString(), "/in", true));
    assertThat(spec.limits().cpu()).isEqualTo(0.5);
    assertThat(spec.limits().memoryMb()).isEqualTo(64);
    assertThat(spec.limits().processes()).isEqualTo(7);
    assertThat(spec.limits().threads()).isEqualTo(70);
    assertThat(spec.user()).contains("me");
    assertThat(spec.network().mode()).contains(NetworkMode.NONE);
  }

  @Test
  void sandboxDoesNotOutliveTheRun() {
    isola().call("run", "true");
    isola().call("run", "--timeout", "30h", "true");
    assertThat(fake.specs.get(0).linger()).contains(Duration.ZERO);
    assertThat(fake.specs.get(0).deadline()).contains(Duration.ofHours(24));
    assertThat(fake.specs.get(1).deadline()).contains(Duration.ofHours(30).plusMinutes(1));
    assertThat(fake.specs.get(0).id()).isNotEqualTo(fake.specs.get(1).id());
  }

  @Test
  void destroysTheSandboxAfterFailures() {
    fake.createFails = true;
    assertThat(isola().call("run", "true").err())
        .isEqualTo("isola: the sandbox did not start; try again\n");
    fake.createFails = false;
    assertThat(isola().call("run", "boom").code()).isEqualTo(125);
    assertThat(fake.alive).isEmpty();
  }

  @Test
  void failedDestroyDoesNotChangeTheExitCode() {
    fake.destroyFails = true;
    CommandResult called = isola().call("run", "exit", "3");
    assertThat(called.code()).isEqualTo(3);
    assertThat(called.err()).contains("could not be destroyed: it clings to life").hasLineCount(1);
  }

  @Test
  void exitsSilentlyWhenStdoutIsClosed() {
    CommandLineFixture isola = isola();
    isola.outIsBroken = true;
    isola.brokenOut =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    CommandResult called = isola.call("run", "echo", "y");
    assertThat(called.code()).isEqualTo(141);
    assertThat(called.err()).isEmpty();
    assertThat(fake.alive).isEmpty();
  }

  @Test
  void rejectsTtyWithoutATerminal() {
    CommandResult called = isola().call("run", "--tty", "true");
    assertThat(called.code()).isEqualTo(2);
    assertThat(called.err())
        .isEqualTo(
            "isola: --tty needs a terminal, and stdin is not one; run the command in a terminal,"
                + " or omit --tty\n");
    assertThat(fake.specs).isEmpty();
  }

  @Test
  void dataFolderIsPrivateToItsOwner() throws IOException {
    isola().call("run", "true");
    String first = fake.context().instance().value();
    isola().call("run", "true");
    Path data = folder.resolve("data");
    assertThat(fake.context().instance().value()).isEqualTo(first);
    assertThat(Files.readString(data.resolve("instance"))).isEqualTo(first + "\n");
    assertThat(fake.context().dataFolder()).isEqualTo(data.resolve("bubblewrap")).isDirectory();
    assertThat(mode(data)).isEqualTo("rwx--x--x");
    assertThat(mode(data.resolve("bubblewrap"))).isEqualTo("rwx------");
    assertThat(mode(data.resolve("instance"))).isEqualTo("rw-------");
    assertThat(Optional.ofNullable(data.toFile().list()).orElseThrow())
        .containsExactlyInAnyOrder("instance", "bubblewrap", "leases");
    assertThat(data.resolve("leases")).isEmptyDirectory();
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }
}
