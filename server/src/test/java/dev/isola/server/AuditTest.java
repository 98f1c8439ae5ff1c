package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.api.Log;
import dev.isola.server.audit.AuditLog;
import dev.isola.server.audit.AuditReader;
import dev.isola.server.auth.Actor;
import dev.isola.server.limit.RequestLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Every change is audited with its actor, and nothing that the client sent is logged. */
class AuditTest {
  private static final Log QUIET =
      new Log() {
        @Override
        public void info(String sentence) {}

        @Override
        public void warning(String sentence) {
          throw new AssertionError(sentence);
        }
      };

  @TempDir Path folder;
  private AuditLog audit;
  private TestServer testServer;

  @BeforeEach
  void open() throws IOException {
    audit = AuditLog.open(file(), 1 << 20, true, InstantSource.system(), QUIET);
    testServer =
        new TestServer(
            folder,
            Duration.ofSeconds(30),
            context ->
                new HttpServerOptions(
                    Optional.empty(), RequestLimits.NONE, List.of(audit), Optional::empty),
            Map.of());
  }

  @AfterEach
  void close() {
    testServer.close();
    audit.close();
  }

  private Path file() {
    return folder.resolve("audit.jsonl");
  }

  private List<Map<String, Object>> lines() throws IOException {
    try (Stream<String> lines = Files.lines(file())) {
      return lines
          .map(
              line -> new JsonMapper().readValue(line, new TypeReference<Map<String, Object>>() {}))
          .toList();
    }
  }

  /** Waits for lines, which are written after the response is sent. */
  private static int invalidCredentials(String line) {
    return JsonMapper.shared().readTree(line).path("invalidCredentials").asInt(0);
  }

  private List<Map<String, Object>> lines(int count) {
    await().atMost(Duration.ofSeconds(10)).until(() -> lines().size() >= count);
    try {
      return lines();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void everyChangeIsLoggedWithActorActionAndOutcome() throws IOException {
    TestClient use = testServer.client(testServer.use);
    String id = use.post("/api/v1/sandboxes", "{}").field("id");
    use.get("/api/v1/sandboxes/" + id);
    TestClient.Response exec =
        use.post("/api/v1/sandboxes/" + id + "/exec", "{\"command\":\"true\"}");
    testServer.client(testServer.read).delete("/api/v1/sandboxes/" + id);
    use.delete("/api/v1/sandboxes/missing");
    use.delete("/api/v1/sandboxes/" + id);

    List<Map<String, Object>> lines = lines(5);
    assertThat(lines).hasSize(5);
    assertThat(lines)
        .extracting(line -> line.get("key") + " " + line.get("action") + " " + line.get("outcome"))
        .containsExactlyInAnyOrder(
            "use createSandbox ok",
            "use exec ok",
            "read destroySandbox FORBIDDEN",
            "use destroySandbox SANDBOX_NOT_FOUND",
            "use destroySandbox ok");
    // Lines are written after the response is sent, so their order may differ.
    assertThat(of(lines, "createSandbox"))
        .containsEntry("sandbox", id)
        .containsEntry("status", 201);
    assertThat(of(lines, "exec"))
        .containsEntry("requestId", exec.headers().get("x-request-id"))
        .containsEntry("remote", "127.0.0.1")
        .containsKey("at");
  }

  private static Map<String, Object> of(List<Map<String, Object>> lines, String action) {
    return lines.stream()
        .filter(line -> action.equals(line.get("action")))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void clientInputIsNotLogged() throws IOException {
    TestClient client = testServer.client();
    String id = client.post("/api/v1/sandboxes", "{\"env\":{\"TOKEN\":\"hunter1\"}}").field("id");
    client.post("/api/v1/sandboxes/" + id + "/exec", "{\"command\":\"echo hunter2\"}");
    client.put(
        "/api/v1/sandboxes/" + id + "/files/content?path=hunter3", "hunter4".getBytes(UTF_8));
    String made = client.post("/api/v1/keys", "{\"name\":\"ci\",\"scope\":\"read\"}").field("key");
    client.delete("/api/v1/keys/" + made);
    client.delete("/api/v1/sandboxes/hunter-5");
    testServer.client("isk_hunter6").delete("/api/v1/sandboxes/" + id);

    List<Map<String, Object>> lines = lines(7);
    assertThat(lines).hasSize(7);
    assertThat(lines.stream().filter(line -> Integer.valueOf(401).equals(line.get("status"))))
        .as("a failed authentication")
        .singleElement()
        .satisfies(
            line ->
                assertThat(line)
                    .containsEntry("key", Actor.INVALID)
                    .containsEntry("action", "destroySandbox"));
    assertThat(Files.readString(file()))
        .contains("writeFile", "makeKey", "revokeKey")
        .doesNotContain("hunter", "isk_", testServer.admin, made);
    assertThat(testServer.requests.toString())
        .doesNotContain("hunter", "isk_", testServer.admin, made);
    assertThat(testServer.warnings.toString())
        .doesNotContain("hunter", "isk_", testServer.admin, made);
  }

  /** A flood of them must not displace the other lines. */
  @Test
  void invalidCredentialsBeyondTheLimitAreCountedInTheNextLine() throws IOException {
    Path other = folder.resolve("flood.jsonl");
    List<RequestListener.CompletedRequest> completed = new CopyOnWriteArrayList<>();
    try (AuditLog flood = AuditLog.open(other, 1 << 20, true, InstantSource.system(), QUIET);
        TestServer limited =
            new TestServer(
                folder.resolve("limited"),
                Duration.ofSeconds(30),
                context ->
                    new HttpServerOptions(
                        Optional.empty(),
                        new RequestLimits(0, 1, 3, 0, 0),
                        List.of(flood, completed::add),
                        Optional::empty),
                Map.of())) {
      TestClient invalid = limited.client("isk_" + "0".repeat(64));
      for (int i = 0; i < 10; i++) {
        assertThat(invalid.get("/api/v1/sandboxes").status()).isEqualTo(i < 3 ? 401 : 429);
      }
      await().until(() -> completed.size() == 10); // after the responses were sent
      limited.client().post("/api/v1/sandboxes", "{}");
      await().until(() -> Files.readAllLines(other).size() >= 4);
      List<String> lines = Files.readAllLines(other);
      assertThat(lines).hasSize(4);
      assertThat(lines.subList(0, 3)).allMatch(line -> line.contains(Actor.INVALID));
      assertThat(lines.getLast()).contains("createSandbox", "invalidCredentials");
      // A request completes after its response, so that a later one may be counted in an earlier
      // line.
      assertThat(lines.stream().mapToInt(AuditTest::invalidCredentials).sum()).isEqualTo(7);
    }
  }

  @Test
  void logIsListedNewestFirstInPages() throws IOException {
    TestClient admin = testServer.client();
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      String id = admin.post("/api/v1/sandboxes", "{}").field("id");
      lines(ids.size() + 1);
      ids.addFirst(id);
    }
    TestClient.Response first = admin.get("/api/v1/audit?limit=2");
    assertThat(first.status()).as(first.text()).isEqualTo(200);
    assertThat(String.valueOf(first.list("entries").getFirst()))
        .contains("key=admin", "action=createSandbox", "outcome=ok");
    List<Object> seen = new ArrayList<>();
    String next = "/api/v1/audit?limit=2";
    // Entries that are written meanwhile do not shift the pages.
    for (int page = 0; page < 3; page++) {
      TestClient.Response answer = admin.get(next);
      answer.list("entries").forEach(entry -> seen.add(String.valueOf(entry.get("sandbox"))));
      next = "/api/v1/audit?limit=2&before=" + answer.field("next");
      admin.post("/api/v1/sandboxes/nosuch/pause", "{}");
      lines(5 + page + 1);
    }
    assertThat(seen).isEqualTo(ids);
    assertThat(admin.get("/api/v1/audit?sandbox=" + ids.get(3)).list("entries")).hasSize(1);
    assertThat(admin.get("/api/v1/audit?sandbox=other").list("entries")).isEmpty();
    assertThat(admin.get("/api/v1/audit?before=x").status()).isEqualTo(400);
    assertThat(testServer.client(testServer.use).get("/api/v1/audit").status()).isEqualTo(403);
  }

  @Test
  void lineIsWrittenWhenThereIsRoomOnAFullDisk() throws IOException {
    List<String> warnings = new ArrayList<>();
    AtomicInteger slices = new AtomicInteger(3);
    try (AuditLog full =
        AuditLog.open(
            Path.of("/dev/full"),
            1000,
            false,
            InstantSource.system(),
            warningsTo(warnings),
            () -> slices.getAndDecrement() > 0)) {
      full.requestCompleted(numbered(1));
      assertThat(slices).as("it asked until there was nothing left").hasValue(-1);
      full.requestCompleted(numbered(2));
    }
    assertThat(warnings).singleElement().asString().contains("No space left");
  }

  @Test
  void logThatCannotBeRotatedKeepsAllLines() throws IOException {
    Path other = folder.resolve("full.jsonl");
    Path draft = Files.createDirectories(folder.resolve("full.jsonl.new"));
    List<String> warnings = new ArrayList<>();
    try (AuditLog full =
        AuditLog.open(other, 300, false, InstantSource.system(), warningsTo(warnings))) {
      for (int i = 0; i < 10; i++) {
        full.requestCompleted(numbered(i));
      }
      assertThat(Files.readAllLines(other)).hasSize(10);
      assertThat(warnings).as("once").hasSize(1);
      Files.delete(draft);
      full.requestCompleted(numbered(10));
    }
    assertThat(Files.readAllLines(other)).hasSize(1);
    assertThat(Files.readAllLines(folder.resolve("full.jsonl.1"))).hasSize(10);
    assertThat(draft).doesNotExist();
  }

  private static Log warningsTo(List<String> warnings) {
    return new Log() {
      @Override
      public void info(String sentence) {}

      @Override
      public void warning(String sentence) {
        warnings.add(sentence);
      }
    };
  }

  @Test
  void pagesContinueThroughRotatedFiles() throws IOException {
    Path other = folder.resolve("small.jsonl");
    AuditReader reader = new AuditReader(Optional.of(other));
    List<Object> seen = new ArrayList<>();
    try (AuditLog small = AuditLog.open(other, 1000, false, InstantSource.system(), QUIET)) {
      Optional<String> next = Optional.empty();
      for (int i = 0; i < 20; i++) {
        small.requestCompleted(numbered(i));
      }
      for (int i = 20; i < 24 && seen.size() < 100; i++) {
        AuditReader.Page page = reader.read(Optional.empty(), 3, next);
        page.entries().forEach(entry -> seen.add(String.valueOf(entry.get("requestId"))));
        next = page.next();
        small.requestCompleted(numbered(i));
      }
      AuditReader.Page rest = reader.read(Optional.empty(), 500, next);
      rest.entries().forEach(entry -> seen.add(String.valueOf(entry.get("requestId"))));
      assertThat(rest.next()).isEmpty();
    }
    assertThat(seen).hasSizeGreaterThan(12);
    for (int i = 0; i < seen.size(); i++) {
      assertThat(seen.get(i)).isEqualTo(Integer.toString(19 - i));
    }
  }

  @Test
  void readingIsBoundedAndContinues() throws IOException {
    Path other = folder.resolve("large.jsonl");
    String line = "{\"at\":\"x\",\"sandbox\":\"a\",\"pad\":\"" + "x".repeat(970) + "\"}\n";
    Files.writeString(
        other, "cut off\n{\"sandbox\":\"b\"}\n" + line.repeat(20_000) + "{\"half\":", UTF_8);
    AuditReader reader = new AuditReader(Optional.of(other));
    int pages = 0;
    List<Map<String, Object>> found = new ArrayList<>();
    for (Optional<String> next = Optional.of(""); next.isPresent(); pages++) {
      AuditReader.Page page =
          reader.read(Optional.of("b"), 10, next.filter(text -> !text.isEmpty()));
      found.addAll(page.entries());
      next = page.next();
    }
    assertThat(found).hasSize(1);
    assertThat(pages).as("at most 8 MiB of 20 MB at once").isEqualTo(3);
  }

  @Test
  void missingLogIsAClearError() {
    assertThatThrownBy(() -> AuditReader.NONE.read(Optional.empty(), 1, Optional.empty()))
        .hasMessageContaining("this server writes no audit log");
  }

  private static RequestListener.CompletedRequest numbered(int number) {
    return new RequestListener.CompletedRequest(
        Integer.toString(number),
        "POST",
        "exec",
        "/x",
        200,
        Optional.empty(),
        1,
        "me",
        "::1",
        Optional.empty(),
        false,
        false);
  }

  @Test
  void previewsAreLoggedOnlyIfConfigured() throws IOException {
    Path other = folder.resolve("without.jsonl");
    try (AuditLog without = AuditLog.open(other, 1 << 20, false, InstantSource.system(), QUIET)) {
      without.requestCompleted(
          new RequestListener.CompletedRequest(
              "1",
              "POST",
              "previewPost",
              "/x",
              200,
              Optional.empty(),
              1,
              "(public)",
              "::1",
              Optional.empty(),
              false,
              false));
    }
    assertThat(other).isEmptyFile();
  }

  @Test
  void logIsReadableByItsOwnerOnly() throws IOException {
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
        .isEqualTo("rw-------");
  }

  @Test
  void logIsRotatedAndTheOldestFileIsDeleted() throws IOException {
    Path other = folder.resolve("small.jsonl");
    RequestListener.CompletedRequest completed =
        new RequestListener.CompletedRequest(
            "1",
            "POST",
            "exec",
            "/x",
            200,
            Optional.empty(),
            1,
            "me",
            "::1",
            Optional.empty(),
            false,
            false);
    try (AuditLog small = AuditLog.open(other, 300, false, InstantSource.system(), QUIET)) {
      for (int i = 0; i < 100; i++) {
        small.requestCompleted(completed);
      }
    }
    try (Stream<Path> files = Files.list(folder)) {
      List<String> names =
          files
              .map(path -> path.getFileName().toString())
              .filter(name -> name.startsWith("small"))
              .sorted()
              .toList();
      assertThat(names)
          .containsExactly(
              "small.jsonl", "small.jsonl.1", "small.jsonl.2", "small.jsonl.3", "small.jsonl.4");
    }
    assertThat(Files.size(folder.resolve("small.jsonl.1"))).isBetween(300L, 600L);
    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(folder.resolve("small.jsonl.4"))))
        .isEqualTo("rw-------");
  }
}
