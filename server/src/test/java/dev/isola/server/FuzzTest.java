package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.InventoryItem;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * E2, P7: ten thousand requests generated from the OpenAPI document. They cause no internal error,
 * destroy nothing they are not allowed to, and leave no unknown sandbox behind.
 */
class FuzzTest {
  private static final int REQUESTS = 10_000;
  private static final int CALLERS = 4;

  /** Set the property to repeat the same requests. */
  private static final long SEED = Long.getLong("isola.fuzz.seed", new Random().nextLong());

  @TempDir Path folder;

  /** A server with one sandbox that must survive and some that may be destroyed. */
  private static final class FuzzFixture implements AutoCloseable {
    final TestServer testServer;
    final String protectedSandbox;
    final List<String> expendable = new ArrayList<>();
    final Set<String> created = ConcurrentHashMap.newKeySet();
    final AtomicIntegerArray answers = new AtomicIntegerArray(6);

    FuzzFixture(Path folder) throws IOException {
      testServer = new TestServer(folder);
      protectedSandbox = make();
      TestClient.Response written =
          testServer.client().put(file(), "content that must survive".getBytes(UTF_8));
      assertThat(written.status()).isEqualTo(200);
      for (int i = 0; i < 12; i++) {
        expendable.add(make());
      }
    }

    private String make() throws IOException {
      return testServer.client().post("/api/v1/sandboxes", "{}").field("id");
    }

    String file() {
      return "/api/v1/sandboxes/" + protectedSandbox + "/files/content?path=kept/file.txt";
    }

    /** Sends a request and returns what is wrong with the response; empty if it is correct. */
    String send(RequestFuzzer.FuzzedRequest sent, String key) {
      try (TestClient.OpenResponse open =
          testServer
              .client(key)
              .open(sent.method(), sent.path(), sent.headers(), sent.body().toArray())) {
        answers.incrementAndGet(Math.min(5, open.status() / 100));
        if (sent.streams() && open.status() == 200) {
          return "";
        }
        byte[] body = open.body().readAllBytes();
        TestClient.Response answer =
            new TestClient.Response(open.status(), open.headers(), dev.isola.spi.Bytes.of(body));
        if (sent.operation().equals("createSandbox") && answer.status() < 300) {
          created.add(answer.field("id"));
        }
        if (sent.operation().equals("forkSandbox") && answer.status() < 300) {
          answer.list("forks").stream()
              .flatMap(fork -> Stream.ofNullable((Map<?, ?>) fork.get("sandbox")))
              .forEach(sandbox -> created.add(String.valueOf(sandbox.get("id"))));
        }
        return defect(answer);
      } catch (IOException | RuntimeException e) {
        return e.toString();
      }
    }

    private static String defect(TestClient.Response answer) {
      if (answer.status() == 500) {
        return "internal error: " + answer.text();
      }
      if (answer.status() < 400) {
        return "";
      }
      boolean problem =
          answer.type().equals("application/problem+json")
              && answer.json().containsKey("code")
              && !answer.field("remedy").isBlank()
              && !answer.field("category").equals("BUG");
      return problem ? "" : "not a problem document: " + answer.type() + " " + answer.text();
    }

    @Override
    public void close() {
      testServer.close();
    }
  }

  @Test
  void fuzzedRequestsCauseNoInternalErrorAndLoseNothing() throws Exception {
    System.out.println("fuzz seed: -Disola.fuzz.seed=" + SEED);
    try (FuzzFixture fixture = new FuzzFixture(folder)) {
      Map<String, Object> document =
          fixture.testServer.client("").get("/api/v1/openapi.json").json();
      List<String> defects = new ArrayList<>();
      try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<List<String>>> all = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
          Random random = new Random(SEED + i);
          all.add(callers.submit(() -> call(fixture, document, random)));
        }
        for (Future<List<String>> one : all) {
          defects.addAll(one.get());
        }
      }
      String seed = "seed " + SEED + ", answers by hundreds " + fixture.answers;
      assertThat(defects).as(seed).isEmpty();
      // Providers that cannot fulfill a request also cause warnings.
      assertThat(fixture.testServer.warnings).as(seed).noneMatch(one -> one.startsWith("request "));
      // The test is meaningful only if some requests succeed and some fail.
      assertThat(fixture.answers.get(2)).as(seed).isGreaterThan(REQUESTS / 20);
      assertThat(fixture.answers.get(4)).as(seed).isGreaterThan(REQUESTS / 20);
      checkProtectedSandbox(fixture);
      checkNoUnknownSandbox(fixture);
    }
  }

  private static List<String> call(
      FuzzFixture fixture, Map<String, Object> document, Random random) {
    List<String> defects = new ArrayList<>();
    RequestFuzzer mine = new RequestFuzzer(document, random, fixture.expendable);
    RequestFuzzer attack = new RequestFuzzer(document, random, List.of(fixture.protectedSandbox));
    for (int i = 0; i < REQUESTS / CALLERS; i++) {
      boolean attacks = random.nextInt(4) == 0;
      RequestFuzzer.FuzzedRequest sent = attacks ? attack.next() : mine.next();
      // Only credentials that cannot change the surviving sandbox get its id.
      String key =
          attacks ? (random.nextBoolean() ? "" : fixture.testServer.read) : fixture.testServer.use;
      String found = fixture.send(sent, key);
      if (!found.isEmpty()) {
        defects.add(sent + " -> " + found);
      }
    }
    return defects;
  }

  private static void checkProtectedSandbox(FuzzFixture fixture) throws IOException {
    TestClient client = fixture.testServer.client();
    assertThat(client.get("/api/v1/sandboxes/" + fixture.protectedSandbox).json())
        .containsEntry("state", "running");
    assertThat(client.get(fixture.file()).text()).isEqualTo("content that must survive");
    assertThat(
            client
                .post(
                    "/api/v1/sandboxes/" + fixture.protectedSandbox + "/exec",
                    "{\"command\":\"cat kept/file.txt\"}")
                .field("stdout"))
        .isEqualTo("content that must survive");
  }

  /**
   * Every remaining sandbox was reported by a response, and destroying all of them leaves only one.
   */
  private static void checkNoUnknownSandbox(FuzzFixture fixture) throws IOException {
    TestClient client = fixture.testServer.client();
    Map<String, Object> known = new HashMap<>();
    fixture.expendable.forEach(id -> known.put(id, id));
    fixture.created.forEach(id -> known.put(id, id));
    for (Map<?, ?> one : client.get("/api/v1/sandboxes?limit=1000").list("sandboxes")) {
      String id = String.valueOf(one.get("id"));
      if (!id.equals(fixture.protectedSandbox) && !"error".equals(one.get("state"))) {
        assertThat(known).as("a sandbox that no response reported").containsKey(id);
      }
      if (!id.equals(fixture.protectedSandbox)) {
        assertThat(client.delete("/api/v1/sandboxes/" + id + "?force=true").status())
            .isEqualTo(204);
      }
    }
    List<String> left =
        fixture.testServer.registry.providers().values().iterator().next().inventory().stream()
            .map(InventoryItem::id)
            .map(id -> id.value())
            .toList();
    assertThat(left).containsExactly(fixture.protectedSandbox);
  }

  @Test
  void internalErrorResponseIsDetected() {
    Map<String, String> type = Map.of("content-type", "application/problem+json");
    String body = "{\"code\":\"INTERNAL\",\"remedy\":\"x\",\"category\":\"BUG\"}";
    assertThat(
            FuzzFixture.defect(new TestClient.Response(500, type, dev.isola.spi.Bytes.utf8(body))))
        .isNotEmpty();
    assertThat(
            FuzzFixture.defect(new TestClient.Response(502, type, dev.isola.spi.Bytes.utf8(body))))
        .isNotEmpty();
    assertThat(
            FuzzFixture.defect(
                new TestClient.Response(404, Map.of(), dev.isola.spi.Bytes.utf8("x"))))
        .isNotEmpty();
  }
}
