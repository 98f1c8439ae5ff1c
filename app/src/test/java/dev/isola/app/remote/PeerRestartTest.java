package dev.isola.app.remote;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.client.Command;
import dev.isola.client.Execution;
import dev.isola.client.Exit;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxSpec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** B9: commands in the sandboxes of another Isola, when either of the two is killed. */
@Timeout(300)
@Tag("all")
class PeerRestartTest {
  private static final Duration TIMEOUT = Duration.ofMinutes(2);
  private static final String KEY = "isk_0123456789abcdef0123456789abcdef";
  private static final int COMMANDS = 20;

  /** Counts until the file {@code go} exists, and then fifty lines more. */
  private static final String COUNTING =
      "i=0; n=-1; while [ $n -ne 0 ]; do i=$((i+1)); echo line $i of many; sleep 0.05;"
          + " if [ $n -gt 0 ]; then n=$((n-1)); elif [ -e go ]; then n=50; fi; done; echo end";

  @TempDir Path folder;
  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void end() throws InterruptedException {
    for (Process process : started) {
      process.destroy();
      if (!process.waitFor(60, SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    }
  }

  private Process serve(String name, int port, String... settings) throws IOException {
    List<String> words =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Dslf4j.internal.verbosity=ERROR",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.isola.app.Main",
                "serve",
                "--port",
                Integer.toString(port),
                "--data",
                folder.resolve(name).toString(),
                "--set",
                "floor=process"));
    Stream.of(settings).forEach(setting -> words.addAll(List.of("--set", setting)));
    ProcessBuilder builder =
        new ProcessBuilder(words).redirectError(folder.resolve(name + ".err").toFile());
    builder.environment().put("ISOLA_API_KEY", KEY);
    builder.environment().put("XDG_CONFIG_HOME", folder.toString());
    Process process = builder.start();
    started.add(process);
    return process;
  }

  private Process backend(int port) throws IOException {
    return serve("backend", port, "provider=subprocess");
  }

  private Process front(int port, String backend) throws IOException {
    return serve(
        "front",
        port,
        "provider=http",
        "providers.http.url=" + backend + "/backend",
        "providers.http.key=" + KEY);
  }

  private static String url(Process server) throws IOException {
    BufferedReader out =
        new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
    String line = out.readLine();
    assertThat(line).startsWith("Isola listening on ");
    return line.substring("Isola listening on ".length());
  }

  private static void kill(Process process) throws Exception {
    assertThat(process.destroyForcibly().waitFor(60, SECONDS)).isTrue(); // kill -9
  }

  @Test
  void killedServersLoseNoOutputOfRunningCommands() throws Exception {
    Process firstBackend = backend(0);
    String backendUrl = url(firstBackend);
    Process firstFront = front(0, backendUrl);
    String frontUrl = url(firstFront);
    List<Reader> readers = new ArrayList<>();
    try (Isola isola = Isola.connect(frontUrl, KEY)) {
      await().atMost(TIMEOUT).ignoreExceptions().until(() -> isHealthy(isola));
      Sandbox sandbox = isola.create(SandboxSpec.builder().ttl(Duration.ofMinutes(10)).build());
      for (int i = 0; i < COMMANDS; i++) {
        readers.add(new Reader(sandbox.start(Command.shell(COUNTING))));
      }
      awaitProgress(readers);

      kill(firstBackend);
      assertThat(url(backend(URI.create(backendUrl).getPort()))).isEqualTo(backendUrl);
      awaitProgress(readers);

      kill(firstFront);
      assertThat(url(front(URI.create(frontUrl).getPort(), backendUrl))).isEqualTo(frontUrl);
      awaitProgress(readers);

      await()
          .atMost(TIMEOUT)
          .ignoreExceptions()
          .untilAsserted(() -> sandbox.files().write("go", ""));
      for (Reader reader : readers) {
        assertThat(reader.thread.join(TIMEOUT)).isTrue();
        String text = reader.text();
        assertThat(text).isEqualTo(expected(text.lines().count() - 1));
        assertThat(reader.exit).isEqualTo(new Exit.Exited(0));
      }
      sandbox.destroy(true);
      assertThat(isola.list(SandboxFilter.ALL)).isEmpty();
    }
    try (Isola peer = Isola.connect(backendUrl, KEY)) {
      assertThat(peer.list(SandboxFilter.ALL)).isEmpty();
    }
  }

  private static boolean isHealthy(Isola isola) {
    return isola.providers().stream()
        .anyMatch(one -> "http".equals(one.get("name")) && "healthy".equals(one.get("status")));
  }

  /** Reads the output of one command, on a thread of its own. */
  private static final class Reader {
    private final StringBuilder text = new StringBuilder();
    private final Thread thread;
    private volatile Exit exit = new Exit.Lost("it has not ended");

    Reader(Execution execution) {
      execution.onStdout(this::add).onGap(gap -> add("GAP"));
      thread = Thread.startVirtualThread(() -> exit = execution.await());
    }

    private synchronized void add(String more) {
      text.append(more);
    }

    synchronized String text() {
      return text.toString();
    }
  }

  /** Waits until every command has written something that was not there before. */
  private static void awaitProgress(List<Reader> readers) {
    for (Reader reader : readers) {
      int before = reader.text().length();
      await().atMost(TIMEOUT).until(() -> reader.text().length() > before);
    }
  }

  private static String expected(long lines) {
    StringBuilder text = new StringBuilder();
    for (long i = 1; i <= lines; i++) {
      text.append("line ").append(i).append(" of many\n");
    }
    return text.append("end\n").toString();
  }
}
