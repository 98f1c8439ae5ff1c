package dev.isola.app.operate;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** F2, O12: operating a server: large files, shutdown, log files. */
@Tag("all")
class ServerOperationTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final String KEY = "isk_0123456789abcdef_planted";
  private static final boolean LONG = Boolean.getBoolean("isola.long");

  @TempDir Path folder;
  private final List<Process> processes = new ArrayList<>();
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void end() throws InterruptedException {
    for (Process process : processes) {
      process.destroy(); // together with its sandboxes
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    }
    client.close();
  }

  /** A server process and its URL. */
  private record ServerProcess(Process process, String url) {}

  private ServerProcess serve(String... flags) throws IOException {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(List.of(flags));
    words.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "-Dslf4j.internal.verbosity=ERROR",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-cp",
            System.getProperty("java.class.path"),
            "dev.isola.app.Main",
            "serve",
            "--port",
            "0",
            "--data",
            folder.resolve("state").toString(),
            "--set",
            "floor=process",
            "--set",
            "shutdown=drain",
            "--set",
            "provider=subprocess"));
    ProcessBuilder builder =
        new ProcessBuilder(words).redirectError(folder.resolve("err").toFile());
    builder.environment().put("ISOLA_API_KEY", KEY);
    Process process = builder.start();
    processes.add(process);
    BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
    String line = out.readLine();
    assertThat(line).startsWith("Isola listening on http://");
    ServerProcess server =
        new ServerProcess(process, line.substring("Isola listening on ".length()));
    await().atMost(SOON).until(() -> call(server, "GET", "/readyz", "").statusCode() == 200);
    return server;
  }

  private static HttpRequest request(
      ServerProcess server, String method, String path, BodyPublisher body) {
    return HttpRequest.newBuilder(URI.create(server.url() + path))
        .method(method, body)
        .header("Authorization", "Bearer " + KEY)
        .build();
  }

  private HttpResponse<String> call(ServerProcess server, String method, String path, String body)
      throws IOException, InterruptedException {
    return client.send(
        request(server, method, path, BodyPublishers.ofString(body)), BodyHandlers.ofString());
  }

  private String sandbox(ServerProcess server) throws IOException, InterruptedException {
    String answer = call(server, "POST", "/api/v1/sandboxes", "{}").body();
    return "/api/v1/sandboxes/" + id(answer);
  }

  private static String id(String json) {
    Matcher id = Pattern.compile("\"id\":\"([^\"]+)\"").matcher(json);
    assertThat(id.find()).as(json).isTrue();
    return id.group(1);
  }

  @Test
  void filesLargerThanTheHeapAreStreamed() throws Exception {
    long size = LONG ? 1L << 30 : 96L << 20;
    ServerProcess server = serve(LONG ? "-Xmx256m" : "-Xmx64m");
    String content = sandbox(server) + "/files/content?path=large";
    Path file = folder.resolve("large");
    String digest = fill(file, size);
    transfer(server, content, file, size, digest);
    long after = resident(server.process());
    transfer(server, content, file, size, digest);
    transfer(server, content, file, size, digest);
    // A buffered copy would hold the whole file, three times.
    assertThat(resident(server.process()) - after).isLessThan(size / 2);
    assertThat(resident(server.process())).isLessThan((LONG ? 700L : 400L) << 20);
  }

  private void transfer(ServerProcess server, String content, Path file, long size, String digest)
      throws Exception {
    HttpResponse<String> written =
        client.send(
            request(server, "PUT", content, BodyPublishers.ofFile(file)), BodyHandlers.ofString());
    assertThat(written.statusCode()).as(written.body()).isEqualTo(200);
    assertThat(written.body()).contains("\"size\":" + size);
    HttpResponse<InputStream> read =
        client.send(
            request(server, "GET", content, BodyPublishers.noBody()), BodyHandlers.ofInputStream());
    try (InputStream in = read.body()) {
      MessageDigest sum = MessageDigest.getInstance("SHA-256");
      byte[] buffer = new byte[1 << 16];
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        sum.update(buffer, 0, count);
      }
      assertThat(HexFormat.of().formatHex(sum.digest())).isEqualTo(digest);
    }
  }

  private static String fill(Path file, long size) throws Exception {
    MessageDigest sum = MessageDigest.getInstance("SHA-256");
    byte[] block = new byte[1 << 20];
    new java.util.Random(7).nextBytes(block);
    try (var out = Files.newOutputStream(file)) {
      for (long left = size; left > 0; left -= block.length) {
        block[0]++;
        out.write(block);
        sum.update(block);
      }
    }
    return HexFormat.of().formatHex(sum.digest());
  }

  private static long resident(Process process) throws IOException {
    String status = Files.readString(Path.of("/proc/" + process.pid() + "/status"));
    Matcher found = Pattern.compile("VmRSS:\\s+(\\d+) kB").matcher(status);
    assertThat(found.find()).isTrue();
    return Long.parseLong(found.group(1)) * 1024;
  }

  @Test
  void shutdownWaitsForCommandsAndClosesStreamsImmediately() throws Exception {
    ServerProcess server = serve();
    String sandbox = sandbox(server);
    CompletableFuture<HttpResponse<String>> events =
        client.sendAsync(
            request(server, "GET", "/api/v1/events", BodyPublishers.noBody()),
            BodyHandlers.ofString());
    CompletableFuture<HttpResponse<String>> exec =
        client.sendAsync(
            request(
                server,
                "POST",
                sandbox + "/exec",
                BodyPublishers.ofString("{\"command\":\"touch begun; sleep 2; echo done\"}")),
            BodyHandlers.ofString());
    await()
        .atMost(SOON)
        .until(
            () -> call(server, "GET", sandbox + "/files/stat?path=begun", "").statusCode() == 200);
    server.process().destroy();

    assertThat(exec.get(60, TimeUnit.SECONDS).body()).contains("\"stdout\":\"done\\n\"");
    assertThat(events.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    assertThat(server.process().waitFor(60, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void secretsAreNotWrittenToDisk() throws Exception {
    ServerProcess server = serve();
    String sandbox = sandbox(server);
    call(server, "POST", sandbox + "/exec", "{\"command\":\"echo planted-in-a-command\"}");
    call(server, "POST", sandbox + "/exec?planted-in-a-query=1", "{\"planted-in-a-field\":1}");
    call(server, "PUT", sandbox + "/files/content?path=planted-in-a-path", "planted-in-a-file");
    call(server, "GET", "/planted-in-a-route", "");
    String made =
        call(server, "POST", "/api/v1/keys", "{\"name\":\"ci\",\"scope\":\"use\"}").body();
    String secret = made.split("\"key\":\"")[1].split("\"")[0];
    call(server, "DELETE", "/api/v1/keys/ci", "");
    call(server, "DELETE", sandbox, "");
    server.process().destroy();
    assertThat(server.process().waitFor(60, TimeUnit.SECONDS)).isTrue();

    String log = Files.readString(folder.resolve("err"));
    String audit = Files.readString(folder.resolve("state").resolve("audit.jsonl"));
    assertThat(log).contains("\"route\":\"/api/v1/keys\"");
    assertThat(audit).contains("makeKey", "revokeKey", "destroySandbox");
    assertThat(log + audit).doesNotContain("planted", secret, KEY);
    assertThat(filesWith("makeKey")).as("the search finds what is there").isNotEmpty();
    assertThat(filesWith(secret) + filesWith(KEY)).isEmpty();
  }

  /** Searches with grep in text mode, which does not skip the holes of disk images. */
  private String filesWith(String text) throws IOException, InterruptedException {
    Process grep =
        new ProcessBuilder("grep", "-rlF", "-e", text, folder.resolve("state").toString()).start();
    String found = new String(grep.getInputStream().readAllBytes(), UTF_8);
    assertThat(grep.waitFor()).as("the files could all be read").isLessThan(2);
    return found;
  }

  @Test
  void setupApiReportsTheStateOfThisMachine() throws Exception {
    ServerProcess server = serve();
    String setup = call(server, "GET", "/api/sandbox/setup", "").body();
    assertThat(setup)
        .contains("\"ready\":true", "\"about\":\"machine\"", "\"about\":\"tool\"")
        .contains("\"name\":\"subprocess\"", "\"name\":\"bwrap\"");
  }
}
