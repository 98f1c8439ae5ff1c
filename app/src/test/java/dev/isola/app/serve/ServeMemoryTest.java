package dev.isola.app.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The output of commands is bounded for the whole server, not only per request. */
@Tag("all")
class ServeMemoryTest {
  private static final String KEY = "isk_0123456789abcdef0123456789abcdef";
  private static final int MEBIBYTES = 8 << 20;
  private static final int AT_ONCE = 10;

  @TempDir Path data;
  private final HttpClient client = HttpClient.newHttpClient();

  @SuppressWarnings("NullAway.Init") // started by the test
  private Process server;

  @AfterEach
  void end() throws InterruptedException {
    server.destroy();
    server.waitFor();
    client.close();
  }

  /** Starts a server with a heap that is too small for the ten responses. */
  private String start() throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Dslf4j.internal.verbosity=ERROR",
                "-XX:TieredStopAtLevel=1",
                "-Xmx160m",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.isola.app.Main",
                "serve",
                "--port",
                "0",
                "--data",
                data.resolve("state").toString(),
                "--set",
                "floor=process",
                "--set",
                "provider=subprocess",
                "--set",
                "shutdown=drain")
            .redirectError(data.resolve("err").toFile());
    builder.environment().put("ISOLA_API_KEY", KEY);
    server = builder.start();
    String line =
        new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8))
            .readLine();
    return line.substring("Isola listening on ".length());
  }

  private HttpResponse<InputStream> post(String url, String body) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create(url))
            .header("Authorization", "Bearer " + KEY)
            .timeout(Duration.ofMinutes(3))
            .POST(BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofInputStream());
  }

  /** Returns the status, the length of the body, and its end, which contains no output. */
  private String drained(HttpResponse<InputStream> answer) throws IOException {
    long length = 0;
    String end = "";
    byte[] buffer = new byte[64 * 1024];
    try (InputStream body = answer.body()) {
      for (int read = body.read(buffer); read >= 0; read = body.read(buffer)) {
        length += read;
        String more = end + new String(buffer, 0, read, StandardCharsets.ISO_8859_1);
        end = more.substring(Math.max(0, more.length() - 1000));
      }
    }
    return answer.statusCode() + " " + length + " " + end;
  }

  @Test
  void tenConcurrentCommandsWithLargeOutputFitIntoASmallHeap() throws Exception {
    String url = start();
    String made = drained(post(url + "/api/v1/sandboxes", "{}"));
    Matcher id = Pattern.compile("\"id\":\"([a-z0-9]+)\"").matcher(made);
    assertThat(id.find()).as(made).isTrue();
    String exec = url + "/api/v1/sandboxes/" + id.group(1) + "/exec";
    String body =
        "{\"command\":\"head -c %d /dev/zero\",\"outputLimit\":%d}".formatted(MEBIBYTES, MEBIBYTES);
    List<Callable<String>> calls = new ArrayList<>();
    for (int i = 0; i < AT_ONCE; i++) {
      calls.add(() -> drained(post(exec, body)));
    }
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<String> answer : threads.invokeAll(calls)) {
        assertThat(answer.get())
            .startsWith("200 ")
            .contains("\"exitCode\":0", "\"stdoutBytes\":" + MEBIBYTES);
      }
    }
    assertThat(drained(post(exec, body)))
        .as("one alone gets all of it")
        .contains("\"truncated\":false");
    assertThat(Files.readString(data.resolve("err"))).doesNotContain("OutOfMemoryError");
  }
}
