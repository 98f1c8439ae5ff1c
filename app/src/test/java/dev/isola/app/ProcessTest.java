package dev.isola.app;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.testing.program.IsolaCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that need a separate process: signals and terminals. */
class ProcessTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  @TempDir Path folder;
  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void end() {
    started.forEach(Process::destroyForcibly);
  }

  @ParameterizedTest
  @CsvSource({"INT, 130", "TERM, 143", "HUP, 129", "KILL, 137"})
  void terminationKillsTheWholeProcessTree(String signal, int code) throws Exception {
    // Identified by their sleep argument: in the sandbox they may have other process ids.
    String nap = "300." + System.nanoTime();
    Process isola =
        start("run", "--", "sh", "-c", "sleep " + nap + " & setsid sleep " + nap + " & wait");
    await().atMost(TIMEOUT).until(() -> sleepers(nap) == 2);

    new ProcessBuilder("kill", "-" + signal, Long.toString(isola.pid())).start().waitFor();

    assertThat(isola.waitFor(TIMEOUT.toSeconds(), SECONDS)).isTrue();
    assertThat(isola.exitValue()).isEqualTo(code);
    await().atMost(TIMEOUT).until(() -> sleepers(nap) == 0);
    assertThat(folder.resolve("err")).isEmptyFile();
  }

  @Test
  void ttyOptionAllocatesATerminal() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/script")), "script is not installed");
    String run =
        String.join(
            " ", words("run", "-t", "--", "sh", "-c", "'test -t 0 && stty size && exit 5'"));
    Process script = start(List.of("script", "-qec", "stty rows 33 cols 99; " + run, "/dev/null"));
    assertThat(script.waitFor(TIMEOUT.toSeconds(), SECONDS)).isTrue();
    assertThat(script.exitValue()).isEqualTo(5);
    assertThat(Files.readString(folder.resolve("out"))).contains("33 99\r\n");
  }

  /** The systemd unit has this umask. */
  @Test
  void sandboxDoesNotDependOnTheUmaskOfItsServer() throws Exception {
    String run = String.join(" ", words("run", "--", "sh", "-c", "'umask; cd /usr && pwd'"));
    Process isola = start(List.of("sh", "-c", "umask 077; " + run));
    assertThat(isola.waitFor(TIMEOUT.toSeconds(), SECONDS)).isTrue();
    assertThat(Files.readString(folder.resolve("err"))).isEmpty();
    assertThat(Files.readString(folder.resolve("out"))).isEqualTo("0022\n/usr\n");
  }

  private Process start(String... args) throws IOException {
    return start(words(args));
  }

  private Process start(List<String> words) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(words)
            .redirectOutput(folder.resolve("out").toFile())
            .redirectError(folder.resolve("err").toFile());
    builder.environment().put("ISOLA_DATA", folder.resolve("data").toString());
    Process process = builder.start();
    started.add(process);
    return process;
  }

  /** Background jobs ignore SIGINT, and under nohup SIGHUP; the command must not inherit that. */
  private static List<String> words(String... args) {
    return Stream.concat(Stream.of("env", "--default-signal"), IsolaCommand.of(args).stream())
        .toList();
  }

  private static long sleepers(String nap) {
    return ProcessHandle.allProcesses()
        .map(process -> process.info().arguments().orElse(new String[0]))
        .filter(arguments -> arguments.length == 1 && arguments[0].equals(nap))
        .count();
  }
}
