package dev.isola.app.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code isola run} with the real subprocess provider, which works everywhere. */
class SubprocessRunTest {
  @TempDir Path folder;

  private CommandLineFixture isola() {
    return new CommandLineFixture(
        folder.resolve("data"),
        ServiceLoader.load(ProviderFactory.class).stream()
            .map(ServiceLoader.Provider::get)
            .toArray(ProviderFactory[]::new));
  }

  private CommandResult run(String... words) {
    List<String> args =
        Stream.concat(Stream.of("run", "--provider", "subprocess", "--"), Stream.of(words))
            .toList();
    return isola().call(args.toArray(new String[0]));
  }

  @AfterEach
  void assertNothingIsLeft() throws IOException {
    Path sandboxes = folder.resolve("data/subprocess/sandboxes");
    if (Files.exists(sandboxes)) {
      try (Stream<Path> left = Files.list(sandboxes)) {
        assertThat(left).isEmpty();
      }
    }
  }

  @Test
  void runsACommand() {
    CommandResult called = run("sh", "-c", "echo out; echo err >&2; exit 3");
    assertThat(called.out()).isEqualTo("out\n");
    assertThat(called.err()).isEqualTo("err\n");
    assertThat(called.code()).isEqualTo(3);
  }

  @Test
  void passesArgumentsLiterally() {
    assertThat(run("printf", "%s|", "a b", "$HOME", "*", "", "@x", "--", "-v").out())
        .isEqualTo("a b|$HOME|*||@x|--|-v|");
  }

  @Test
  void copiesLargeInputAndOutput() {
    String much = "0123456789abcde\n".repeat(200_000);
    CommandLineFixture isola = isola().stdin(much);
    assertThat(isola.call("run", "--provider", "subprocess", "cat").out()).isEqualTo(much);
  }

  @ParameterizedTest
  @CsvSource({"/no/such/program, 127", "no-such-program, 127", "/etc/passwd, 126", "/, 126"})
  void reportsCommandsThatCannotBeRun(String program, int code) {
    CommandResult called = run(program);
    assertThat(called.code()).isEqualTo(code);
    assertThat(called.err()).startsWith("isola: ").contains(program).hasLineCount(1);
  }

  @Test
  void reportsAMissingWorkingFolder() {
    CommandResult called =
        isola().call("run", "--provider", "subprocess", "-w", "/no/such", "true");
    assertThat(called.code()).isEqualTo(125);
    assertThat(called.err()).startsWith("isola: ").contains("/no/such").hasLineCount(1);
  }

  @Test
  void killsTheCommandAfterTheTimeout() {
    CommandResult called =
        isola().call("run", "--provider", "subprocess", "--timeout", "200ms", "sleep", "30");
    assertThat(called.code()).isEqualTo(124);
    assertThat(called.err()).isEqualTo("isola: timed out after 0.2 s; increase --timeout\n");
  }

  @Test
  void reportsASignalLikeAShell() {
    assertThat(run("sh", "-c", "kill -TERM $$").code()).isEqualTo(143);
  }

  @Test
  void usesAFolderOfTheHostAsWorkspace() throws IOException {
    Path workspace = Files.createDirectory(folder.resolve("mine"));
    CommandResult called =
        isola()
            .call(
                "run",
                "--provider",
                "subprocess",
                "--workspace",
                workspace.toString(),
                "touch",
                "x");
    assertThat(called.code()).isZero();
    assertThat(workspace.resolve("x")).exists();
  }
}
