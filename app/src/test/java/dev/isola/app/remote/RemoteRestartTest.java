package dev.isola.app.remote;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.client.Command;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxSpec;
import dev.isola.testing.program.IsolaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A1, X8: a shell and a followed log survive a restart of the server without losing a byte. */
class RemoteRestartTest {
  private static final Duration TIMEOUT = Duration.ofMinutes(2);
  private static final String KEY = "isk_0123456789abcdef0123456789abcdef";

  /** Counts until the file {@code go} exists, and then a hundred lines more. */
  private static final String COUNTING =
      "i=0; n=-1; while [ $n -ne 0 ]; do i=$((i+1)); echo line $i of many; sleep 0.01;"
          + " if [ $n -gt 0 ]; then n=$((n-1)); elif [ -e go ]; then n=100; fi; done; echo end";

  @TempDir Path folder;
  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void end() throws InterruptedException {
    for (Process process : started) {
      process.destroy(); // a killed server would leave the control groups of its health checks
      if (!process.waitFor(60, SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    }
  }

  private static List<String> words(String... args) {
    return Stream.concat(Stream.of("env", "--default-signal"), IsolaCommand.of(args).stream())
        .toList();
  }

  private Process start(List<String> words, Path out, String url) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(words).redirectError(folder.resolve("err").toFile());
    if (!url.isEmpty()) {
      builder.redirectOutput(out.toFile());
      builder.environment().put("ISOLA_URL", url);
    }
    builder.environment().put("ISOLA_API_KEY", KEY);
    builder.environment().put("XDG_CONFIG_HOME", folder.toString());
    Process process = builder.start();
    started.add(process);
    return process;
  }

  private Process serve(int port) throws IOException {
    List<String> serve =
        words(
            "serve",
            "--port",
            Integer.toString(port),
            "--data",
            folder.resolve("state").toString(),
            "--set",
            "floor=process",
            "--set",
            "provider=subprocess");
    return start(
        Stream.concat(serve.stream(), IsolaCommand.onlyProviders().stream()).toList(), folder, "");
  }

  private static String url(Process server) throws IOException {
    BufferedReader out =
        new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
    String line = out.readLine();
    assertThat(line).startsWith("Isola listening on ");
    return line.substring("Isola listening on ".length());
  }

  private static void awaitSize(Path file, long size) {
    await().atMost(TIMEOUT).until(() -> Files.exists(file) && Files.size(file) > size);
  }

  /** Returns the exact output of a command that counted {@code lines} lines. */
  private static String expected(String ending, long lines) {
    StringBuilder text = new StringBuilder();
    for (long i = 1; i <= lines; i++) {
      text.append("line ").append(i).append(" of many").append(ending);
    }
    return text.append("end").append(ending).toString();
  }

  @Test
  void shellAndLogsSurviveAKilledServer() throws Exception {
    restart("KILL");
  }

  @Tag("all")
  @Test
  void shellAndLogsSurviveAServerRestart() throws Exception {
    restart("TERM");
  }

  private void restart(String signal) throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/script")), "script is not installed");
    Process first = serve(0);
    String url = url(first);
    Path log = folder.resolve("log");
    Path screen = folder.resolve("screen");
    try (Isola isola = Isola.connect(url, KEY)) {
      await().atMost(TIMEOUT).ignoreExceptions().until(() -> isola.providers() != null);
      // The command ends by itself if this test fails.
      Sandbox sandbox = isola.create(SandboxSpec.builder().ttl(Duration.ofMinutes(10)).build());
      String execution = sandbox.start(Command.shell(COUNTING)).id();
      Process logs = start(words("logs", "-f", sandbox.id(), execution), log, url);
      String line =
          String.join(" ", words("shell", sandbox.id(), "sh", "-c", "'" + COUNTING + "'"));
      Path remarks = folder.resolve("remarks");
      Process shell =
          start(List.of("script", "-qec", line + " 2>" + remarks, "/dev/null"), screen, url);
      awaitSize(log, 500);
      awaitSize(screen, 500);

      new ProcessBuilder("kill", "-" + signal, Long.toString(first.pid())).start().waitFor();
      assertThat(first.waitFor(TIMEOUT.toSeconds(), SECONDS)).isTrue();
      long logBefore = Files.size(log);
      long screenBefore = Files.size(screen);
      assertThat(logs.isAlive() && shell.isAlive()).as("both wait for the server").isTrue();
      Process second = serve(URI.create(url).getPort());
      assertThat(url(second)).isEqualTo(url);
      awaitSize(log, logBefore);
      awaitSize(screen, screenBefore);

      sandbox.files().write("go", "");
      assertThat(logs.waitFor(TIMEOUT.toSeconds(), SECONDS)).isTrue();
      assertThat(shell.waitFor(TIMEOUT.toSeconds(), SECONDS)).isTrue();
      assertThat(logs.exitValue()).isZero();
      assertThat(shell.exitValue()).as("%s", remarks).isZero();
      String logged = Files.readString(log);
      String shown = Files.readString(screen);
      assertThat(logged).isEqualTo(expected("\n", logged.lines().count() - 1));
      assertThat(shown).isEqualTo(expected("\r\n", shown.lines().count() - 1));
      sandbox.destroy(true);
    }
  }
}
