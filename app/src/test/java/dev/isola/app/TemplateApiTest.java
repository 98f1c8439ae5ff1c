package dev.isola.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.client.Isola;
import dev.isola.client.SandboxSpec;
import dev.isola.client.TemplateBuild;
import dev.isola.client.TemplateBuildInfo;
import dev.isola.client.TemplateInfo;
import dev.isola.client.TemplateRecipe;
import dev.isola.client.error.NotFound;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Templates of the native API and the SDK, with builds in real sandboxes. */
@Timeout(300)
class TemplateApiTest {
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String TEMPLATES = "/api/v1/templates";

  @TempDir static Path data;
  @TempDir static Path scratch;
  private static LiveServer server;
  private static Isola isola;
  private static String use;
  private static String read;

  @TempDir Path folder;

  @BeforeAll
  static void start() throws IOException {
    SmallImage.addTo(data, scratch);
    server = LiveServer.start(data, new BubblewrapProviderFactory());
    isola = server.client();
    use = isola.keys().create("use", "use").key();
    read = isola.keys().create("read", "read").key();
  }

  @AfterAll
  static void end() {
    isola.close();
    server.close();
  }

  private static HttpResponse<String> send(
      String key, String method, String path, byte[] body, String... headers) throws IOException {
    try {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create(server.url + path))
              .header("Authorization", "Bearer " + key)
              .method(method, BodyPublishers.ofByteArray(body));
      if (headers.length > 0) {
        request.headers(headers);
      }
      return HTTP.send(request.build(), BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  private static HttpResponse<String> get(String key, String path, String... headers)
      throws IOException {
    return send(key, "GET", path, new byte[0], headers);
  }

  private static HttpResponse<String> post(String path, String json) throws IOException {
    return send(
        LiveServer.KEY, "POST", path, json.getBytes(UTF_8), "Content-Type", "application/json");
  }

  private static HttpResponse<String> upload(String key, String digest, byte[] body)
      throws IOException {
    return send(
        key, "PUT", TEMPLATES + "/uploads/" + digest, body, "Content-Type", "application/x-tar");
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private TemplateBuildInfo build(String name, TemplateRecipe.Builder recipe) throws IOException {
    try (TemplateBuild build = isola.templates().build(name, recipe.build(), folder)) {
      TemplateBuildInfo end = build.await();
      assumeTrue(
          !end.reason().contains("no provider"),
          () -> "NOT RUN: bubblewrap does not work here: " + end.reason());
      return end;
    }
  }

  private static TemplateRecipe.Builder small() {
    return TemplateRecipe.builder().base(SmallImage.NAME);
  }

  private static List<Path> uploads() throws IOException {
    try (Stream<Path> all = Files.walk(data)) {
      return all.filter(Files::isRegularFile)
          .filter(
              file ->
                  Objects.requireNonNull(file.getParent())
                      .getFileName()
                      .toString()
                      .equals("uploads"))
          .toList();
    }
  }

  @Test
  void sdkBuildsATemplateAndCreatesASandboxFromIt() throws IOException {
    Files.createDirectories(folder.resolve("src"));
    Files.writeString(folder.resolve("src/note"), "copied\n");
    TemplateBuildInfo end =
        build(
            "sdk",
            small()
                .env("A", "1")
                .copy("src", "/opt/src")
                .run("cat /opt/src/note > /opt/built", "root")
                .start("echo up > /tmp/up; exec sleep 1000")
                .ready("test -f /tmp/up"));
    assertThat(end.state()).as(end.reason()).isEqualTo("ready");
    TemplateInfo made = isola.templates().get("sdk");
    assertThat(made.isBuilt()).isTrue();
    assertThat(made.build()).isEqualTo(end.id());
    assertThat(isola.templates().list()).extracting(TemplateInfo::name).contains("sdk");
    assertThat(isola.templates().builds("sdk"))
        .extracting(TemplateBuildInfo::id)
        .containsExactly(end.id());
    var sandbox = isola.create(SandboxSpec.builder().template("sdk").build());
    assertThat(sandbox.exec("cat /opt/built /tmp/up; echo $A").stdout())
        .isEqualTo("copied\nup\n1\n");
    sandbox.destroy();
    isola.templates().remove("sdk");
    Assertions.assertThatExceptionOfType(NotFound.class)
        .isThrownBy(() -> isola.templates().get("sdk"));
    Assertions.assertThatExceptionOfType(NotFound.class)
        .isThrownBy(() -> isola.create(SandboxSpec.builder().template("sdk").build()))
        .satisfies(e -> assertThat(e.code()).isEqualTo("TEMPLATE_NOT_FOUND"));
  }

  @Test
  void repeatedCreateReturnsTheSameSandboxAfterARebuild() throws IOException {
    assertThat(build("again", small().run("true")).isReady()).isTrue();
    HttpResponse<String> first =
        send(
            LiveServer.KEY,
            "POST",
            "/api/v1/sandboxes",
            "{\"template\":\"again\"}".getBytes(UTF_8),
            "Idempotency-Key",
            "template-again");
    assertThat(first.statusCode()).as(first.body()).isEqualTo(201);
    assertThat(build("again", small().run("echo other > /etc/other", "root")).isReady()).isTrue();
    HttpResponse<String> second =
        send(
            LiveServer.KEY,
            "POST",
            "/api/v1/sandboxes",
            "{\"template\":\"again\"}".getBytes(UTF_8),
            "Idempotency-Key",
            "template-again");
    assertThat(second.statusCode()).as(second.body()).isEqualTo(200);
    String id = first.body().replaceFirst(".*?\"id\":\"([a-z0-9]+)\".*", "$1");
    assertThat(second.body()).contains("\"id\":\"" + id + "\"");
    isola.sandbox(id).destroy();
  }

  @Test
  void logStreamStartsAtAnyLineAndEndsWithTheResult() throws IOException {
    TemplateBuildInfo end = build("logged", small().run("echo one; echo two").run("exit 7"));
    assertThat(end.state()).isEqualTo("failed");
    assertThat(end.failedStep()).contains(2L);
    String log = TEMPLATES + "/logged/builds/" + end.id() + "/log";
    String whole = get(LiveServer.KEY, log).body();
    assertThat(whole)
        .contains("event: line\nid: 1\n", "\"message\":\"one\"", "\"step\":2")
        .containsSubsequence(
            "\"number\":0", "\"number\":1", "event: result", "\"state\":\"failed\"");
    String rest = get(LiveServer.KEY, log, "Last-Event-ID", "2").body();
    assertThat(rest).contains("\"number\":2", "event: result").doesNotContain("\"number\":1,");
    assertThat(get(LiveServer.KEY, log + "?offset=2").body()).contains("\"number\":2");
    assertThat(get(LiveServer.KEY, log + "?offset=1000000").body())
        .contains("event: result")
        .doesNotContain("event: line");
    assertThat(get(LiveServer.KEY, log + "?offset=x").statusCode()).isEqualTo(400);
  }

  @Test
  void keysWithoutTheScopeCannotBuildUploadOrReadLogs() throws IOException {
    TemplateBuildInfo end =
        build("guarded", small().env("TOKEN", "planted-value").run("echo planted-output; exit 1"));
    String one = TEMPLATES + "/guarded/builds/" + end.id();
    byte[] archive = "x".getBytes(UTF_8);
    String recipe = "{\"recipe\":{\"base\":\"small\"}}";
    for (String key : List.of(use, read)) {
      assertThat(get(key, one + "/log").statusCode()).isEqualTo(403);
      assertThat(upload(key, sha256(archive), archive).statusCode()).isEqualTo(403);
      assertThat(get(key, TEMPLATES + "/uploads/" + sha256(archive)).statusCode()).isEqualTo(403);
      assertThat(
              send(key, "POST", TEMPLATES + "/guarded/builds", recipe.getBytes(UTF_8)).statusCode())
          .isEqualTo(403);
      assertThat(send(key, "DELETE", TEMPLATES + "/guarded", new byte[0]).statusCode())
          .isEqualTo(403);
      assertThat(get(key, one).body())
          .contains("\"state\":\"failed\"", "\"reason\":\"***\"")
          .doesNotContain("planted");
    }
    assertThat(get(LiveServer.KEY, one).body()).contains("planted-output");
    assertThat(get(LiveServer.KEY, TEMPLATES + "/uploads/" + sha256(archive)).body())
        .contains("\"uploaded\":false");
    assertThat(build("shown", small().env("TOKEN", "planted-value")).isReady()).isTrue();
    assertThat(get(read, TEMPLATES + "/shown").body()).contains("TOKEN").doesNotContain("planted");
    assertThat(get(use, TEMPLATES + "/shown").body()).contains("planted-value");
  }

  @Test
  void logOfAnotherTemplatesBuildIsNotFound() throws IOException {
    TemplateBuildInfo first = build("first", small().run("echo planted-output"));
    build("second", small());
    String one = TEMPLATES + "/second/builds/" + first.id();
    for (String path : List.of(one, one + "/log", TEMPLATES + "/first/builds/nothere/log")) {
      HttpResponse<String> answer = get(LiveServer.KEY, path);
      assertThat(answer.statusCode()).as(path).isEqualTo(404);
      assertThat(answer.body()).contains("TEMPLATE_NOT_FOUND").doesNotContain("planted");
    }
  }

  @Test
  void uploadWithAWrongHashLeavesNothing() throws IOException {
    byte[] content = "what was sent".getBytes(UTF_8);
    String other = sha256("something else".getBytes(UTF_8));
    assertThat(upload(LiveServer.KEY, other, content).statusCode()).isEqualTo(400);
    assertThat(get(LiveServer.KEY, TEMPLATES + "/uploads/" + other).body())
        .contains("\"uploaded\":false");
    assertThat(uploads()).noneMatch(file -> file.toString().contains(other));
    for (String wrong : List.of("abc", "..%2f..%2fetc", other.toUpperCase(java.util.Locale.ROOT))) {
      assertThat(upload(LiveServer.KEY, wrong, content).statusCode()).as(wrong).isEqualTo(400);
    }
    assertThat(upload(LiveServer.KEY, sha256(content), content).statusCode()).isEqualTo(204);
    assertThat(get(LiveServer.KEY, TEMPLATES + "/uploads/" + sha256(content)).body())
        .contains("\"uploaded\":true");
  }

  @Test
  void truncatedUploadLeavesNothing() throws IOException {
    byte[] content = new byte[1 << 20];
    String digest = sha256(content);
    List<Path> before = uploads();
    URI at = URI.create(server.url);
    try (Socket socket = new Socket(at.getHost(), at.getPort());
        OutputStream out = socket.getOutputStream()) {
      out.write(
          ("PUT "
                  + TEMPLATES
                  + "/uploads/"
                  + digest
                  + " HTTP/1.1\r\nHost: "
                  + at.getAuthority()
                  + "\r\nAuthorization: Bearer "
                  + LiveServer.KEY
                  + "\r\nContent-Type: application/x-tar\r\nContent-Length: "
                  + content.length
                  + "\r\n\r\n")
              .getBytes(UTF_8));
      out.write(content, 0, content.length / 2);
      out.flush();
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> uploads().size() > before.size()); // the server has started to store it
    }
    await().atMost(Duration.ofSeconds(60)).until(() -> uploads().equals(before));
    assertThat(get(LiveServer.KEY, TEMPLATES + "/uploads/" + digest).body())
        .contains("\"uploaded\":false");
  }

  @Test
  void hostileRecipesAreRejectedBeforeTheBuild() throws IOException {
    String archive = sha256("x".getBytes(UTF_8));
    List<String> hostile = new ArrayList<>();
    hostile.add("{\"recipe\":" + "[".repeat(100_000));
    hostile.add(
        "{\"recipe\":{\"base\":\"small\",\"steps\":[" + "{\"run\":\"a\"},".repeat(1_000_000));
    hostile.add(
        "{\"recipe\":{\"base\":\"small\",\"steps\":["
            + "{\"run\":\"a\"},".repeat(1000)
            + "{\"run\":\"a\"}]}}");
    for (String from : List.of("../../etc/passwd", "/etc/passwd", "a/../../b")) {
      hostile.add(
          "{\"recipe\":{\"base\":\"small\",\"steps\":[{\"copy\":{\"from\":\""
              + from
              + "\",\"to\":\"/x\",\"archive\":\""
              + archive
              + "\"}}]}}");
    }
    hostile.add("{\"recipe\":{\"base\":\"small\",\"packages\":[\"--option\"]}}");
    hostile.add("{\"recipe\":{\"base\":\"small\"},\"network\":\"everything\"}");
    for (String body : hostile) {
      HttpResponse<String> answer = post(TEMPLATES + "/hostile/builds", body);
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
      assertThat(answer.body().length()).isLessThan(64 * 1024);
    }
    assertThat(get(LiveServer.KEY, TEMPLATES + "/hostile").statusCode()).isEqualTo(404);
  }

  @Test
  void missingArchiveIsRejectedAndPathTraversalFailsTheStep() throws IOException {
    HttpResponse<String> missing =
        post(
            TEMPLATES + "/missing/builds",
            "{\"recipe\":{\"base\":\"small\",\"steps\":[{\"copy\":{\"from\":\".\",\"to\":\"/opt\","
                + "\"archive\":\""
                + sha256("not uploaded".getBytes(UTF_8))
                + "\"}}]}}");
    assertThat(missing.statusCode()).as(missing.body()).isEqualTo(404);
    assertThat(get(LiveServer.KEY, TEMPLATES + "/missing").statusCode()).isEqualTo(404);
    byte[] evil = escaping();
    assertThat(upload(LiveServer.KEY, sha256(evil), evil).statusCode()).isEqualTo(204);
    TemplateBuildInfo end =
        build(
            "evil",
            small()
                .step(Map.of("copy", Map.of("from", ".", "to", "/opt", "archive", sha256(evil))))
                .run("test ! -e /escaped"));
    assertThat(end.state()).isEqualTo("failed");
    assertThat(end.failedStep()).contains(1L);
  }

  /** Returns a tar archive with one empty file whose path leads outside of the target folder. */
  private static byte[] escaping() {
    byte[] block = new byte[512 * 3];
    put(block, 0, "../../escaped");
    put(block, 100, "0000644");
    put(block, 108, "0000000");
    put(block, 116, "0000000");
    put(block, 124, "00000000000");
    put(block, 136, "00000000000");
    put(block, 148, "        ");
    put(block, 156, "0");
    put(block, 257, "ustar\00000");
    int sum = 0;
    for (int i = 0; i < 512; i++) {
      sum += block[i] & 0xff;
    }
    put(block, 148, "%06o\0".formatted(sum));
    return block;
  }

  private static void put(byte[] block, int at, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    System.arraycopy(bytes, 0, block, at, bytes.length);
  }
}
