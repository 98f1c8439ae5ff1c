package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A1, F5: file changes as events, with a real agent. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WatchTest {
  @TempDir static Path folder;
  private TestServer testServer;
  private TestClient client;
  private String sandbox;

  @BeforeAll
  void open() throws IOException {
    testServer = new TestServer(folder, Duration.ofSeconds(30), new SubprocessProviderFactory());
    client = testServer.client();
    sandbox = "/api/v1/sandboxes/" + client.post("/api/v1/sandboxes", "{}").field("id");
  }

  @AfterAll
  void close() throws IOException {
    client.delete(sandbox + "?force=true");
    testServer.close();
  }

  private TestClient.OpenResponse watch(String query) throws IOException {
    TestClient.OpenResponse open =
        client.open("GET", sandbox + "/watch?" + query, Map.of(), new byte[0]);
    assertThat(open.status()).isEqualTo(200);
    assertThat(open.headers()).containsEntry("content-type", "text/event-stream");
    return open;
  }

  /** Reads until a line contains this text. */
  private static String until(BufferedReader lines, String words) throws IOException {
    StringBuilder seen = new StringBuilder();
    while (seen.indexOf(words) < 0) {
      String line = lines.readLine();
      assertThat(line).as("waited for " + words + ", saw " + seen).isNotNull();
      seen.append(line).append('\n');
    }
    return seen.toString();
  }

  private void exec(String command) throws IOException {
    assertThat(client.post(sandbox + "/exec", "{\"command\":\"" + command + "\"}").status())
        .isEqualTo(200);
  }

  @Test
  void changesAfterTheWatchIsEstablishedAreReported() throws IOException {
    exec("mkdir -p w/deep");
    try (TestClient.OpenResponse open = watch("path=w&recursive=true")) {
      BufferedReader lines = new BufferedReader(new InputStreamReader(open.body(), UTF_8));
      until(lines, "event: watching");
      exec("echo hi > w/deep/file");
      String created = until(lines, "/deep/file\"");
      assertThat(created).contains("event: change", "\"kind\":\"created\"", "\"folder\":false");
      exec("rm w/deep/file");
      assertThat(until(lines, "\"kind\":\"removed\"")).contains("event: change");
      exec("rm -r w");
      until(lines, "event: gone");
      assertThat(lines.lines().filter(line -> line.startsWith("event"))).isEmpty();
    }
  }

  @Test
  void invalidWatchIsRejected() throws IOException {
    assertThat(client.get(sandbox + "/watch").status()).isEqualTo(400);
    assertThat(client.get(sandbox + "/watch?path=nosuch").status()).isEqualTo(404);
    assertThat(client.get(sandbox + "/watch?path=w&recursive=yes").status()).isEqualTo(400);
    assertThat(testServer.warnings).isEmpty();
  }

  @Test
  void watchEndsWhenTheServerShutsDown() throws IOException {
    TestServer other = new TestServer(folder.resolve("other"));
    try {
      String path =
          "/api/v1/sandboxes/" + other.client().post("/api/v1/sandboxes", "{}").field("id");
      try (TestClient.OpenResponse open =
          other.client().open("GET", path + "/watch?path=.", Map.of(), new byte[0])) {
        BufferedReader lines = new BufferedReader(new InputStreamReader(open.body(), UTF_8));
        until(lines, "event: watching");
        other.server.close(Duration.ofSeconds(10));
        assertThat(lines.lines().filter(line -> line.startsWith("event"))).isEmpty();
      }
    } finally {
      other.close();
    }
  }
}
