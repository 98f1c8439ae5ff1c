package dev.isola.spi.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.spi.Generator;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** X2: shell mode quotes its arguments; argv mode passes them literally. */
class CommandTest {

  private static final String[] KNOWN = {
    "",
    " ",
    "'",
    "''",
    "\"",
    "\\",
    "$HOME",
    "$(id)",
    "`id`",
    "a'b\"c",
    "-n",
    "--",
    "*",
    "~",
    "#",
    "!",
    "a\nb",
    "\n",
    "\t",
    "\r",
    "&&",
    "|",
    ";",
    ">x",
    "é€😀",
    "\u001b[31m",
    "%s",
    "\\0",
    "'\\''"
  };
  private static final String SPECIAL = "'\"\\$`*?[]{}()<>|&;#~! \t\n\r=%^-azé€\u007f\u0001";

  static LongStream seeds() {
    return Generator.seeds(100);
  }

  private static List<String> nasty(long seed) {
    Generator any = new Generator(seed);
    return any.list(1, 6, () -> any.flag() ? any.oneOf(KNOWN) : any.text(SPECIAL, 0, 24));
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void argumentsAreQuotedForTheShell(long seed) throws Exception {
    List<String> args = nasty(seed);
    Command command = Command.shell("printf '%s\\0'", args.toArray(String[]::new));

    assertThat(run(command))
        .isEqualTo(args.stream().map(arg -> arg + "\0").collect(Collectors.joining()));
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void displayedCommandCanBeTyped(long seed) throws Exception {
    List<String> args = nasty(seed);
    List<String> all = new ArrayList<>(List.of("%s\\0"));
    all.addAll(args);
    Command command = Command.argv("/usr/bin/printf", all);

    assertThat(run(Command.shell(command.display()))).isEqualTo(run(command));
  }

  @ParameterizedTest
  @ValueSource(strings = {"-x", "+x", "--", "-"})
  void aShellTextThatLooksLikeAnOptionIsStillRun(String text) throws Exception {
    Process shell = new ProcessBuilder(Command.shell(text).toArgv()).start();

    assertThat(new String(shell.getErrorStream().readAllBytes(), StandardCharsets.UTF_8))
        .contains(text)
        .contains("not found");
    assertThat(shell.waitFor()).isEqualTo(127);
  }

  @Test
  void shellModeIsShMinusC() {
    assertThat(Command.shell("echo $X").toArgv()).containsExactly("/bin/sh", "-c", "echo $X");
    assertThat(Command.shell("echo", "a b", "c").toArgv())
        .containsExactly("/bin/sh", "-c", "echo 'a b' 'c'");
  }

  @Test
  void argvModeHasNoShell() {
    assertThat(Command.argv("echo", "$X", "a b").toArgv()).containsExactly("echo", "$X", "a b");
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "plain,plain",
        "a b,'a b'",
        "``,''",
        "it's,'it'\\''s'",
        "x=1,x=1",
        "é,'é'",
        "a$b,'a$b'"
      })
  void displayQuotesOnlyWhatNeedsIt(String arg, String shown) {
    assertThat(Command.argv("echo", arg == null ? "" : arg).display()).isEqualTo("echo " + shown);
  }

  @Test
  void displayKeepsTheShellTextAsTyped() {
    assertThat(Command.shell("a | b > c").display()).isEqualTo("a | b > c");
  }

  @Test
  void withMethodsCombine() {
    Command command =
        Command.argv("make")
            .withEnv("A", "1")
            .withEnv(Map.of("A", "2", "B", "3"))
            .withCwd("/src")
            .withUser("agent")
            .withStdin()
            .withTimeout(Duration.ofSeconds(5))
            .withTag("build");

    assertThat(command.env()).containsOnly(Map.entry("A", "2"), Map.entry("B", "3"));
    assertThat(command.cwd()).contains("/src");
    assertThat(command.user()).contains("agent");
    assertThat(command.stdin()).isTrue();
    assertThat(command.timeout()).contains(Duration.ofSeconds(5));
    assertThat(command.tag()).contains("build");
    assertThat(Command.argv("make").stdin()).isFalse();
  }

  @Test
  void allViolationsAreReportedAtOnce() {
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(
            () ->
                new Command(
                    Command.Mode.ARGV,
                    "",
                    List.of("a\0"),
                    Map.of("A=B", "1", "C", "\0"),
                    Optional.of("\0"),
                    Optional.of("\0"),
                    false,
                    Optional.of(Duration.ZERO),
                    Optional.empty()))
        .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_REQUEST))
        .withMessageContainingAll(
            "command is empty",
            "args contains a NUL",
            "env has the invalid name 'A=B'",
            "env contains a NUL",
            "cwd contains a NUL",
            "user contains a NUL",
            "timeout is not positive");
  }

  @Test
  void aNegativeTimeoutAndAnEmptyEnvNameAreRefused() {
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(() -> Command.argv("x").withTimeout(Duration.ofMillis(-1)));
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(() -> Command.argv("x").withEnv("", "1"));
  }

  private static String run(Command command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command.toArgv()).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }
}
