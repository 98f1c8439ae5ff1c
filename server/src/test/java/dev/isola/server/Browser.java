package dev.isola.server;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A headless Chromium, controlled by the DevTools protocol. */
final class Browser implements WebSocket.Listener, AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Duration SOON = Duration.ofSeconds(60);

  private final Process process;
  private final HttpClient http = HttpClient.newHttpClient();
  private final AtomicInteger number = new AtomicInteger();
  private final Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
  private final StringBuilder text = new StringBuilder();
  private final WebSocket page;

  /** Returns the path of an installed browser. */
  static Optional<Path> installed() {
    return Stream.of("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
        .map(Path::of)
        .filter(Files::isExecutable)
        .findFirst();
  }

  Browser(Path program, Path folder) throws Exception {
    process =
        new ProcessBuilder(
                program.toString(),
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--user-data-dir=" + folder,
                "--remote-debugging-port=0",
                "about:blank")
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    Path file = folder.resolve("DevToolsActivePort");
    await().atMost(SOON).until(() -> Files.exists(file) && Files.readAllLines(file).size() > 1);
    String list = "http://127.0.0.1:" + Files.readAllLines(file).getFirst() + "/json/list";
    await().atMost(SOON).until(() -> pages(list).size() > 0);
    String url = pages(list).get(0).path("webSocketDebuggerUrl").asString();
    page = http.newWebSocketBuilder().buildAsync(URI.create(url), this).join();
  }

  private JsonNode pages(String url) throws IOException, InterruptedException {
    List<JsonNode> pages =
        JSON.readTree(
                http.send(
                        HttpRequest.newBuilder(URI.create(url)).build(),
                        HttpResponse.BodyHandlers.ofString())
                    .body())
            .valueStream()
            .filter(one -> one.path("type").asString().equals("page"))
            .toList();
    return JSON.valueToTree(pages);
  }

  private JsonNode call(String method, Map<String, Object> params) throws Exception {
    int id = number.incrementAndGet();
    CompletableFuture<JsonNode> answer = new CompletableFuture<>();
    answers.put(id, answer);
    page.sendText(
            JSON.writeValueAsString(Map.of("id", id, "method", method, "params", params)), true)
        .join();
    return answer.get(60, TimeUnit.SECONDS);
  }

  void open(String url) throws Exception {
    call("Page.navigate", Map.of("url", url));
  }

  /** Returns the result of a script in the page. */
  String evaluate(String script) throws Exception {
    return call("Runtime.evaluate", Map.of("expression", script))
        .path("result")
        .path("result")
        .path("value")
        .asString("");
  }

  /** Waits until the page contains all of these texts; returns the text of the page. */
  String shows(String... words) {
    return await()
        .atMost(SOON)
        .until(
            () -> evaluate("document.body ? document.body.innerText : ''"),
            shown -> Stream.of(words).allMatch(shown::contains));
  }

  @Override
  public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
    text.append(data);
    if (last) {
      JsonNode message = JSON.readTree(text.toString());
      text.setLength(0);
      CompletableFuture<JsonNode> answer = answers.remove(message.path("id").asInt(0));
      if (answer != null) {
        answer.complete(message);
      }
    }
    from.request(1);
    return null;
  }

  @Override
  public void close() {
    page.abort();
    http.shutdownNow();
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly().onExit().join();
  }
}
