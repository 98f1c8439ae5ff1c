package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.spi.Health;
import dev.isola.testing.fake.FakeProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every error is one line that names what failed and the next step, with its exit code. */
class ErrorMessageTest {
  @TempDir Path folder;
  private final FakeProvider fake = new FakeProvider("subprocess");

  static Stream<Arguments> invalidCommands() {
    return Stream.of(
        Arguments.of("runn", 2, "unknown command 'runn'; did you mean run? See isola --help"),
        Arguments.of(
            "runn --help", 2, "unknown command 'runn'; did you mean run? See isola --help"),
        Arguments.of("qq -h", 2, "unknown command 'qq'; see isola --help"),
        Arguments.of("--help qq", 2, "unknown command 'qq'; see isola --help"),
        Arguments.of("qq --version", 2, "unknown command 'qq'; see isola --help"),
        Arguments.of(
            "image nothing --help", 2, "unknown command 'image nothing'; see isola image --help"),
        Arguments.of(
            "run",
            2,
            "missing required parameter: 'CMD'; for example: isola run -- uname -a; see isola run"
                + " --help"),
        Arguments.of(
            "-- ls -l",
            2,
            "there is no command before '--'; to run this in a fresh sandbox: isola run -- ls -l"),
        Arguments.of("--", 2, "there is no command before '--'; see isola --help"),
        Arguments.of("nosuch", 2, "unknown command 'nosuch'; see isola --help"),
        Arguments.of("ps", 2, "unknown command 'ps'; did you mean isola ls? See isola --help"),
        Arguments.of(
            "snapshot list",
            2,
            "unknown command 'snapshot list'; did you mean isola snapshot ls? See isola --help"),
        Arguments.of(
            "ls -- x",
            2,
            "isola ls takes no arguments, and 'x' was given; isola inspect ID describes one"
                + " sandbox, and isola exec ID -- ls lists files in it"),
        Arguments.of(
            "rm",
            2,
            "missing required parameter: 'ID'; isola ls lists the sandboxes; see isola rm --help"),
        Arguments.of(
            "run -it true",
            2,
            "unknown option: '-it'; omit it: standard input is passed without it, and isola run"
                + " removes the sandbox; -t allocates a terminal"),
        Arguments.of("run --no-such true", 2, "unknown option: '--no-such'; see isola run --help"),
        Arguments.of(
            "run --jsn true",
            2,
            "unknown option: '--jsn'; did you mean --json? See isola run --help"),
        Arguments.of(
            "run --env FOO true", 2, "--env 'FOO' is not of the form NAME=VALUE; use FOO=VALUE"),
        Arguments.of(
            "run --env =x true",
            2,
            "--env '=x' is not of the form NAME=VALUE; add a name before the '='"),
        Arguments.of(
            "run --timeout soon true",
            2,
            "--timeout 'soon' is not a duration; use a value such as 30s, 5m, 1h30m or 500ms"),
        Arguments.of(
            "run --network lan true", 2, "--network is 'lan'; use none, filtered, bridge or host"),
        Arguments.of(
            "run --cpu two true", 2, "--cpu 'two' is not a number; use a value such as 2 or 0.5"),
        Arguments.of(
            "run --memory much true",
            2,
            "--memory 'much' is not a size; use a value such as 512m or 2g, or a number of"
                + " megabytes"),
        Arguments.of("--color pink version", 2, "--color is 'pink'; use auto, always or never"),
        Arguments.of("help nothing", 2, "unknown command 'nothing'; see isola help"),
        Arguments.of(
            "run --provider subproces true",
            125,
            "no provider is named 'subproces'; did you mean subprocess? Known: subprocess"),
        Arguments.of(
            "run --provider zzz true", 125, "no provider is named 'zzz'; known: subprocess"),
        Arguments.of(
            "run --mount /no/such:/in true",
            125,
            "--mount has a source that does not exist on this host: /no/such; correct it"),
        Arguments.of(
            "run --cpu 0 --memory 1 --workspace /no/such true",
            125,
            "--cpu must be more than 0 and at most 1024, --memory must be 4 to 67108864: 1,"
                + " --workspace is not a folder on this host: /no/such; correct all 3"),
        Arguments.of(
            "run --workdir /missing true",
            125,
            "--workdir is not a folder in the sandbox: /missing; use a folder that exists in the"
                + " sandbox"),
        Arguments.of(
            "run nosuch",
            127,
            "command not found in the sandbox: nosuch; check the name and the PATH of the sandbox"),
        Arguments.of(
            "run /etc/passwd",
            126,
            "not executable: /etc/passwd; make it executable with chmod +x, or run it with its"
                + " interpreter"),
        Arguments.of(
            "run boom",
            125,
            "internal error: java.lang.IllegalStateException: a bug in two lines; this is a bug;"
                + " set ISOLA_DEBUG=1 to print the stack trace"));
  }

  @ParameterizedTest(name = "isola {0}")
  @MethodSource("invalidCommands")
  void errorIsOneLine(String words, int code, String line) {
    CommandResult called = isola().call(words.split(" "));
    assertThat(called.err()).isEqualTo("isola: " + line + "\n");
    assertThat(called.out()).isEmpty();
    assertThat(called.code()).isEqualTo(code);
    assertThat(fake.alive).isEmpty();
  }

  @ParameterizedTest(name = "isola --json {0}")
  @MethodSource("invalidCommands")
  void errorIsJsonWithJsonOption(String words, int code, String line) {
    CommandResult called = isola().call(("--json " + words).split(" "));
    assertThat(called.err()).isEmpty();
    assertThat(called.out()).startsWith("{\"error\":{\"code\":\"").endsWith("}}\n").hasLineCount(1);
    assertThat(called.code()).isEqualTo(code);
  }

  @Test
  void unhealthyProviderIsReportedWithItsFix() {
    fake.health = new Health.Unhealthy("no agent", "build it");
    assertThat(isola().call("run", "true").err())
        .isEqualTo(
            "isola: no provider is eligible for this sandbox (subprocess: no agent); for"
                + " subprocess: build it\n");
    assertThat(isola().call("run", "--provider", "subprocess", "true").err())
        .isEqualTo("isola: provider subprocess does not work here: no agent; build it\n");
  }

  @Test
  void unusableDataFolderIsNamed() throws IOException {
    Path file = Files.createFile(folder.resolve("file"));
    CommandResult called = isola().call("run", "--data", file.toString(), "true");
    assertThat(called.code()).isEqualTo(125);
    assertThat(called.err())
        .isEqualTo(
            "isola: the data folder "
                + file
                + " cannot be used: "
                + file
                + " already exists; choose another folder with --data or ISOLA_DATA\n");
  }

  @Test
  void commandWithSpacesSuggestsAShell() {
    assertThat(isola().call("run", "ls -l").err())
        .contains("commands run without a shell: pass arguments separately, or use sh -c 'ls -l'");
  }

  @Test
  void stackTraceIsPrintedOnlyInDebugMode() {
    CommandLineFixture isola = isola();
    isola.env.put("ISOLA_DEBUG", "1");
    assertThat(isola.call("run", "boom").err())
        .contains("\tat dev.isola.testing.fake.FakeSandbox.start(");
  }

  @Test
  void jsonErrorHasTheDocumentedShape() {
    assertThat(isola().call("run", "--json", "--provider", "x", "true").out())
        .matches(
            "\\{\"error\":\\{\"code\":\"PROVIDER_NOT_FOUND\",\"category\":\"CALLER\","
                + "\"message\":\"no provider is named 'x'\",\"remedy\":\"known: subprocess\","
                + "\"timestamp\":\"[0-9-]{10}T[0-9:.]+Z\","
                + "\"context\":\\{\"provider\":\"x\"}}}\n");
  }

  private CommandLineFixture isola() {
    return new CommandLineFixture(folder.resolve("data"), fake);
  }
}
