package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.server.context.ServerContext;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A1, O8: the native API over a socket, with a real engine. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ApiTest {
  @TempDir static Path folder;
  private TestServer testServer;
  private TestClient client;

  @BeforeAll
  void open() {
    testServer = new TestServer(folder);
    client = testServer.client();
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private String sandbox() throws IOException {
    TestClient.Response made = client.post("/api/v1/sandboxes", "{}");
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    return made.field("id");
  }

  @Test
  void createReturnsTheProviderOfTheSandbox() throws IOException {
    TestClient.Response made =
        client.post(
            "/api/v1/sandboxes",
            "{\"tags\":{\"team\":\"red\"},\"ttlSeconds\":600,\"env\":{\"A\":\"b\"}}");

    assertThat(made.status()).as(made.text()).isEqualTo(201);
    Map<String, Object> json = made.json();
    assertThat(json)
        .containsEntry("state", "running")
        .containsEntry("provider", "test")
        .containsEntry("isolation", "process")
        .containsEntry("warm", false)
        .containsEntry("attempts", List.of())
        .containsEntry("tags", Map.of("team", "red"))
        .containsKeys("createdAt", "expiresAt", "spec");
    Map<String, Object> later = new HashMap<>(json);
    assertThat(later.remove("unenforcedRequestedLimits")).isEqualTo(List.of());
    assertThat(client.get("/api/v1/sandboxes/" + json.get("id")).json()).isEqualTo(later);
  }

  @Test
  void repeatedIdempotencyKeyCreatesNoSecondSandbox() throws IOException {
    Map<String, String> key = Map.of("Idempotency-Key", "order-1");
    byte[] body = "{\"tags\":{\"n\":\"1\"}}".getBytes(UTF_8);
    TestClient.Response first = client.send("POST", "/api/v1/sandboxes", key, body);
    TestClient.Response second = client.send("POST", "/api/v1/sandboxes", key, body);
    TestClient.Response other =
        client.send("POST", "/api/v1/sandboxes", key, "{\"tags\":{\"n\":\"2\"}}".getBytes(UTF_8));

    assertThat(first.status()).as(first.text()).isEqualTo(201);
    assertThat(second.status()).as(second.text()).isEqualTo(200);
    assertThat(second.json().get("id")).isEqualTo(first.json().get("id"));
    assertThat(other.status()).as(other.text()).isEqualTo(409);
  }

  @Test
  void sandboxIsFoundByNameAndByTheBeginningOfItsId() throws IOException {
    String id = client.post("/api/v1/sandboxes", "{\"name\":\"web\"}").field("id");
    TestClient.Response taken = client.post("/api/v1/sandboxes", "{\"name\":\"web\"}");

    assertThat(taken.status()).as(taken.text()).isEqualTo(409);
    assertThat(taken.json()).containsEntry("code", "CONFLICT").containsEntry("sandbox", id);
    assertThat(client.get("/api/v1/sandboxes/" + id).json()).containsEntry("name", "web");
    for (String query : List.of("name=web", "ref=web", "ref=" + id, "ref=" + id.substring(0, 9))) {
      assertThat(client.get("/api/v1/sandboxes?" + query).list("sandboxes"))
          .as(query)
          .singleElement()
          .asInstanceOf(InstanceOfAssertFactories.MAP)
          .containsEntry("id", id);
    }
    for (String query : List.of("name=" + id, "name=we", "ref=we", "ref=" + id.substring(0, 2))) {
      assertThat(client.get("/api/v1/sandboxes?" + query).list("sandboxes")).as(query).isEmpty();
    }
    assertThat(client.get("/api/v1/sandboxes/web").status()).as("paths have ids").isEqualTo(404);
    for (String name : List.of("", "a b", "../x", "-a", "a".repeat(64), "0123456789abcdefghij")) {
      TestClient.Response refused = client.post("/api/v1/sandboxes", "{\"name\":\"" + name + "\"}");
      assertThat(refused.status()).as(refused.text()).isEqualTo(400);
      assertThat(refused.text()).contains("name");
    }
    client.delete("/api/v1/sandboxes/" + id + "?force=true");
    assertThat(client.get("/api/v1/sandboxes?name=web").list("sandboxes")).isEmpty();
  }

  @Test
  void createReportsUnenforcedLimits() throws IOException {
    TestClient.Response made = client.post("/api/v1/sandboxes", "{\"resources\":{\"memory\":64}}");
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    assertThat(String.valueOf(made.json().get("unenforcedLimits")))
        .contains("memory", "cpu", "disk")
        .doesNotContain("timeout");
    assertThat(made.json().get("unenforcedRequestedLimits")).isEqualTo(List.of("memory"));
    assertThat(
            client
                .post("/api/v1/sandboxes", "{\"resources\":{\"timeoutSeconds\":9}}")
                .json()
                .get("unenforcedRequestedLimits"))
        .isEqualTo(List.of());
  }

  @Test
  void unsupportedGpusAreNotImplemented() throws IOException {
    for (String provider : List.of("auto", "test")) {
      TestClient.Response refused =
          client.post("/api/v1/sandboxes", "{\"gpus\":1,\"provider\":\"" + provider + "\"}");
      assertThat(refused.status()).as(refused.text()).isEqualTo(501);
      assertThat(refused.field("code")).isEqualTo("NOT_IMPLEMENTED");
      assertThat(refused.text()).contains("GPUs");
    }
    assertThat(client.post("/api/v1/sandboxes", "{\"gpus\":0}").status()).isEqualTo(201);
  }

  @Test
  void sandboxesAreListedByTagInPages() throws IOException {
    for (int i = 0; i < 3; i++) {
      client.post("/api/v1/sandboxes", "{\"tags\":{\"list\":\"yes\"}}");
    }
    List<Object> seen = new ArrayList<>();
    String path = "/api/v1/sandboxes?tag=list%3Dyes&limit=2&state=running&provider=test";
    TestClient.Response page = client.get(path);
    page.list("sandboxes").forEach(one -> seen.add(one.get("id")));
    client
        .get(path + "&cursor=" + page.field("next"))
        .list("sandboxes")
        .forEach(one -> seen.add(one.get("id")));

    assertThat(seen).hasSize(3).doesNotHaveDuplicates();
    assertThat(client.get("/api/v1/sandboxes?tag=list%3Dno").json().get("sandboxes"))
        .isEqualTo(List.of());
  }

  @Test
  void forkCopiesFilesAndRejectsMemory() throws IOException {
    String fork = "/api/v1/sandboxes/" + sandbox() + "/fork";
    for (String body : List.of("{}", "{\"kind\":\"filesystem\"}")) {
      TestClient.Response forked = client.post(fork, body);
      assertThat(forked.status()).as(forked.text()).isEqualTo(200);
      assertThat(forked.json()).containsEntry("kind", "filesystem");
      assertThat(forked.list("forks")).singleElement().matches(one -> one.containsKey("sandbox"));
    }
    List<String> before = ids();
    TestClient.Response refused = client.post(fork, "{\"count\":2,\"kind\":\"memory\"}");
    assertThat(refused.status()).as(refused.text()).isEqualTo(501);
    assertThat(refused.field("code")).isEqualTo("NOT_IMPLEMENTED");
    assertThat(refused.field("detail")).contains("cannot be forked: provider test");
    assertThat(refused.field("remedy")).contains("kind filesystem");
    assertThat(before).as("no sandbox was created").containsAll(ids());
    assertThat(client.post(fork, "{\"kind\":\"soul\"}").status()).isEqualTo(400);
  }

  private List<String> ids() throws IOException {
    return client.get("/api/v1/sandboxes?limit=1000").list("sandboxes").stream()
        .map(one -> String.valueOf(one.get("id")))
        .toList();
  }

  @Test
  void providerReportsSupportedForkKinds() throws IOException {
    assertThat(client.get("/api/v1/providers").list("providers"))
        .singleElement()
        .satisfies(one -> assertThat(one.get("forks")).isEqualTo(List.of("filesystem")));
  }

  @Test
  void unknownRegionIsRejected() throws IOException {
    assertThat(client.get("/api/v1/providers").list("providers"))
        .singleElement()
        .satisfies(one -> assertThat(one.get("type")).isEqualTo(one.get("name")));
    TestClient.Response refused = client.post("/api/v1/sandboxes", "{\"region\":\"mars\"}");
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.field("detail")).contains("no provider is in region 'mars'");
  }

  @Test
  void execRunsShellCommandsAndPrograms() throws IOException {
    String id = sandbox();
    Map<String, Object> shell =
        client
            .post(
                "/api/v1/sandboxes/" + id + "/exec",
                "{\"command\":\"echo $A; echo err >&2; exit 3\",\"env\":{\"A\":\"hé\"}}")
            .json();
    assertThat(shell)
        .containsEntry("stdout", "hé\n")
        .containsEntry("stderr", "err\n")
        .containsEntry("exitCode", 3)
        .containsEntry("timedOut", false)
        .containsEntry("truncated", false)
        .containsEntry("stdoutBytes", 4)
        .containsEntry("exit", Map.of("kind", "exited", "code", 3));

    Map<String, Object> argv =
        client
            .post(
                "/api/v1/sandboxes/" + id + "/exec",
                "{\"argv\":[\"cat\"],\"stdin\":{\"base64\":\"/wA=\"},\"encoding\":\"base64\"}")
            .json();
    assertThat(argv).containsEntry("stdout", "/wA=").containsEntry("encoding", "base64");
  }

  @Test
  void emptyArgvBesideACommandCountsAsAbsent() throws IOException {
    String sandbox = "/api/v1/sandboxes/" + sandbox();
    assertThat(client.post(sandbox + "/exec", "{\"command\":\"echo on\",\"argv\":[]}").json())
        .containsEntry("stdout", "on\n");
    assertThat(client.post(sandbox + "/executions", "{\"command\":\"true\",\"argv\":[]}").status())
        .isEqualTo(201);
    for (String both : List.of("{\"argv\":[]}", "{\"command\":\"true\",\"argv\":[\"true\"]}")) {
      assertThat(client.post(sandbox + "/exec", both).status()).as(both).isEqualTo(400);
    }
  }

  @Test
  void execEnforcesTimeoutAndOutputLimit() throws IOException {
    String id = sandbox();
    Map<String, Object> slow =
        client
            .post(
                "/api/v1/sandboxes/" + id + "/exec", "{\"command\":\"sleep 60\",\"timeoutMs\":100}")
            .json();
    assertThat(slow).containsEntry("timedOut", true).containsEntry("exitCode", 124);

    Map<String, Object> loud =
        client
            .post(
                "/api/v1/sandboxes/" + id + "/exec",
                "{\"command\":\"echo 0123456789\",\"outputLimit\":4}")
            .json();
    assertThat(loud).containsEntry("truncated", true).containsEntry("stdoutBytes", 11);
    assertThat((String) loud.get("stdout")).startsWith("01\n[... 7 bytes omitted").endsWith("9\n");
  }

  @Test
  void filesAreWrittenReadAndReadByRange() throws IOException {
    String files = "/api/v1/sandboxes/" + sandbox() + "/files";
    byte[] content = "0123456789".getBytes(UTF_8);
    TestClient.Response written = client.put(files + "/content?path=a/b.txt&mode=0600", content);
    assertThat(written.status()).as(written.text()).isEqualTo(200);
    assertThat(written.json()).containsEntry("size", 10).containsEntry("mode", "0600");

    assertThat(client.get(files + "/content?path=a/b.txt").body()).isEqualTo(content);
    TestClient.Response part =
        client.send(
            "GET", files + "/content?path=a/b.txt", Map.of("Range", "bytes=2-4"), new byte[0]);
    assertThat(part.status()).isEqualTo(206);
    assertThat(part.text()).isEqualTo("234");
    assertThat(part.headers()).containsEntry("content-range", "bytes 2-4/10");
    assertThat(
            client
                .send(
                    "GET",
                    files + "/content?path=a/b.txt",
                    Map.of("Range", "bytes=-3"),
                    new byte[0])
                .text())
        .isEqualTo("789");

    assertThat(client.put(files + "/content?path=a/b.txt&exclusive=true", content).status())
        .isEqualTo(409);
    assertThat(client.put(files + "/content?path=a/b.txt&append=true", content).json())
        .containsEntry("size", 20);
  }

  @Test
  void filesAreListedMovedAndRemoved() throws IOException {
    String files = "/api/v1/sandboxes/" + sandbox() + "/files";
    assertThat(client.post(files + "/folder", "{\"path\":\"d/e\"}").status()).isEqualTo(204);
    client.put(files + "/content?path=d/one.txt", new byte[] {1});
    assertThat(client.post(files + "/mode", "{\"path\":\"d/one.txt\",\"mode\":\"0755\"}").status())
        .isEqualTo(204);
    assertThat(client.get(files + "/stat?path=d/one.txt").json())
        .containsEntry("type", "file")
        .containsEntry("mode", "0755");
    assertThat(
            client.post(files + "/move", "{\"from\":\"d/one.txt\",\"to\":\"d/two.txt\"}").status())
        .isEqualTo(204);
    Map<String, Object> list = client.get(files + "?path=d").json();
    assertThat((List<?>) list.get("entries")).hasSize(2);
    assertThat(client.get(files + "?path=d&limit=1").json()).containsEntry("truncated", true);
    Map<String, Object> glob = client.get(files + "/glob?path=.&pattern=**/*.txt").json();
    assertThat((List<?>) glob.get("entries")).hasSize(1);
    assertThat(client.delete(files + "?path=d&recursive=true").status()).isEqualTo(204);
    assertThat(client.get(files + "/stat?path=d").status()).isEqualTo(404);
  }

  @Test
  void directoryTreesAreExportedAndImported() throws IOException {
    String from = "/api/v1/sandboxes/" + sandbox() + "/files";
    String to = "/api/v1/sandboxes/" + sandbox() + "/files";
    client.put(from + "/content?path=tree/x/y.txt", "deep".getBytes(UTF_8));
    client.put(from + "/content?path=tree/skip.log", "no".getBytes(UTF_8));
    byte[] archive = client.get(from + "/tree?path=tree&exclude=*.log").body();
    TestClient.Response unpacked = client.put(to + "/tree?path=copy", archive);

    assertThat(unpacked.status()).as(unpacked.text()).isEqualTo(200);
    assertThat(unpacked.json()).containsEntry("bytes", 4);
    assertThat(client.get(to + "/content?path=copy/x/y.txt").text()).isEqualTo("deep");
    assertThat(client.get(to + "/stat?path=copy/skip.log").status()).isEqualTo(404);
    assertThat(client.put(to + "/tree?path=copy", "nonsense".getBytes(UTF_8)).status())
        .isEqualTo(400);
  }

  @Test
  void sandboxIsRenewedPausedAndDestroyed() throws IOException {
    String one = "/api/v1/sandboxes/" + sandbox();
    assertThat(client.post(one + "/renew", "{\"ttlSeconds\":60}").json()).containsKey("expiresAt");
    TestClient.Response paused = client.post(one + "/pause", "");
    // Pausing either succeeds or is reported as not implemented.
    if (paused.status() == 200) {
      assertThat(paused.json()).containsEntry("state", "paused");
      assertThat(client.post(one + "/resume", "").json()).containsEntry("state", "running");
    } else {
      assertThat(paused.status()).isEqualTo(501);
    }
    assertThat(client.delete(one).status()).isEqualTo(204);
    assertThat(client.delete(one).status()).isEqualTo(204);
    assertThat(client.get(one).json()).containsEntry("state", "destroyed");
    TestClient.Response gone = client.post(one + "/exec", "{\"command\":\"true\"}");
    assertThat(gone.status()).isEqualTo(410);
    assertThat(gone.json()).containsEntry("code", "SANDBOX_DESTROYED").containsKey("sandbox");
  }

  @Test
  void providersReportHealthAndCapacity() throws IOException {
    sandbox();
    Map<?, ?> provider =
        client.get("/api/v1/agent/workspaces/providers").list("providers").getFirst();
    assertThat(provider.get("name")).isEqualTo("test");
    assertThat(provider.get("status")).isEqualTo("healthy");
    assertThat(provider.get("lastCheck")).isNotNull();
    assertThat((Integer) provider.get("active")).isPositive();
    assertThat(String.valueOf(provider.get("available"))).contains("memoryMb=", "cpu=");
    Map<?, ?> promised = (Map<?, ?>) Objects.requireNonNull(provider.get("promised"));
    assertThat((Integer) promised.get("memoryMb")).isGreaterThanOrEqualTo(1024);
    assertThat((Double) promised.get("cpu")).isGreaterThanOrEqualTo(1.0);
    assertThat(String.valueOf(provider.get("resources")))
        .contains("processors=", "memoryMb=", "freeMemoryMb=", "diskMb=", "freeDiskMb=");
    Map<?, ?> all = client.get("/api/v1/providers").list("providers").getFirst();
    assertThat(all.toString())
        .contains("isolation=", "capabilities=", "enforcedLimits=", "requirements=");
    assertThat(client.get("/api/v1/pool").json()).containsEntry("size", 0);
  }

  @Test
  void setupReportsUnfinishedItemsFirst() throws IOException {
    TestClient.Response setup = client.get("/api/sandbox/setup");
    assertThat(setup.json())
        .containsEntry("ready", true)
        .containsEntry("providers", List.of("test"));
    List<Map<?, ?>> steps = setup.list("steps");
    assertThat(steps.getFirst().get("name")).isEqualTo("bwrap");
    assertThat(steps.getFirst().get("fix")).isEqualTo("apt install bubblewrap");
    List<String> done = new ArrayList<>();
    steps.stream()
        .filter(step -> Boolean.TRUE.equals(step.get("done")))
        .forEach(step -> done.add(String.valueOf(step.get("name"))));
    assertThat(done).contains("kernel", "test");
    int looked = testServer.setupChecks.get();
    client.get("/api/sandbox/setup");
    assertThat(testServer.setupChecks.get()).as("the result is cached").isEqualTo(looked);
  }

  @Test
  void docsPageLoadsNoExternalResources() throws Exception {
    TestClient.Response page = testServer.client("").get("/api/v1/docs");
    assertThat(page.type()).isEqualTo("text/html; charset=utf-8");
    String policy = page.headers().get("content-security-policy");
    assertThat(policy).startsWith("default-src 'none'").doesNotContain("unsafe", "http", "*");
    String html = page.text();
    for (String tag : List.of("script", "style")) {
      String inside = html.split("<" + tag + "[^>]*>")[1].split("</" + tag + ">")[0];
      byte[] digest =
          java.security.MessageDigest.getInstance("SHA-256").digest(inside.getBytes(UTF_8));
      assertThat(policy).contains("sha256-" + java.util.Base64.getEncoder().encodeToString(digest));
    }
    assertThat(html)
        .doesNotContain("http://", "https://", "innerHTML", "onclick", "<img", "Storage", "cookie")
        .contains("credentials: \"omit\"", "autocomplete=\"off\"");
  }

  @Test
  void usageIsReported() throws IOException {
    TestClient.Response usage = client.get("/api/v1/sandboxes/" + sandbox() + "/usage");
    assertThat(usage.status()).as(usage.text()).isEqualTo(200);
    assertThat(usage.json()).containsKeys("cpuMs", "memoryBytes", "processes", "uptimeMs");
    assertThat(client.get("/metrics").text()).contains("isola_");
  }

  @Test
  void readinessFollowsTheEngine() throws IOException {
    TestClient anonymous = testServer.client("");
    assertThat(anonymous.get("/healthz").status()).isEqualTo(200);
    await().until(() -> testServer.engine.readiness().isReady());
    assertThat(anonymous.get("/readyz").status()).isEqualTo(200);
    testServer.context.stop();
    try {
      assertThat(anonymous.get("/healthz").status()).isEqualTo(200);
      assertThat(anonymous.get("/readyz").status()).isEqualTo(503);
      assertThat(client.get("/api/v1/sandboxes").status()).isEqualTo(503);
    } finally {
      testServer.context.start(
          new ServerContext.Components(testServer.engine, testServer.registry, testServer.health));
    }
  }

  @Test
  void keysAreCreatedAndRevoked() throws IOException {
    String secret =
        client.post("/api/v1/keys", "{\"name\":\"ci\",\"scope\":\"read\"}").field("key");
    assertThat(secret).matches("isk_[0-9a-f]{64}");
    assertThat(testServer.client(secret).get("/api/v1/sandboxes").status()).isEqualTo(200);
    assertThat(client.get("/api/v1/keys").text()).contains("\"ci\"").doesNotContain(secret);
    assertThat(testServer.ledger.settings().all("api-key").toString()).doesNotContain(secret);
    assertThat(client.post("/api/v1/keys", "{\"name\":\"ci\",\"scope\":\"read\"}").status())
        .isEqualTo(409);
    assertThat(client.delete("/api/v1/keys/ci").status()).isEqualTo(204);
    assertThat(testServer.client(secret).get("/api/v1/sandboxes").status()).isEqualTo(401);
    TestClient.Response unknown = client.delete("/api/v1/keys/ci");
    assertThat(unknown.status()).isEqualTo(404);
    assertThat(unknown.field("code")).isEqualTo("KEY_NOT_FOUND");
  }

  @Test
  void connectionIsReusedForTheNextRequest() throws IOException {
    byte[] request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(UTF_8);
    try (TestClient.OpenResponse first = client.raw(request)) {
      assertThat(first.body().readAllBytes()).isNotEmpty();
      first.socket().getOutputStream().write(request);
      TestClient.OpenResponse second = TestClient.read(first.socket());
      assertThat(second.status()).isEqualTo(200);
    }
  }
}
