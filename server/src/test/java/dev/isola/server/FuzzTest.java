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
 * E2, P7: ten thousand requests made out of the OpenAPI document. None is our fault, nothing is
 * lost that was there before, and nothing is left that nobody knows of.
 */
class FuzzTest {
  private static final int REQUESTS = 10_000;
  private static final int CALLERS = 4;

  /** Given to see the same requests again. */
  private static final long SEED = Long.getLong("isola.fuzz.seed", new Random().nextLong());

  @TempDir Path folder;

  /** A server, a sandbox that has to stand through all of it, and some that need not. */
  private static final class FuzzFixture implements AutoCloseable {
    final TestServer house;
    final String standing;
    final List<String> playground = new ArrayList<>();
    final Set<String> made = ConcurrentHashMap.newKeySet();
    final AtomicIntegerArray answers = new AtomicIntegerArray(6);

    FuzzFixture(Path folder) throws IOException {
      house = new TestServer(folder);
      standing = make();
      TestClient.Response written =
          house.client().put(file(), "what has to be there at the end".getBytes(UTF_8));
      assertThat(written.status()).isEqualTo(200);
      for (int i = 0; i < 12; i++) {
        playground.add(make());
      }
    }

    private String make() throws IOException {
      return house.client().post("/api/v1/sandboxes", "{}").field("id");
    }

    String file() {
      return "/api/v1/sandboxes/" + standing + "/files/content?path=kept/file.txt";
    }

    /** Sends one and says what is wrong with the answer; empty when nothing is. */
    String send(RequestFuzzer.FuzzedRequest sent, String key) {
      try (TestClient.OpenResponse open =
          house
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
          made.add(answer.field("id"));
        }
        if (sent.operation().equals("forkSandbox") && answer.status() < 300) {
          answer.list("forks").stream()
              .flatMap(fork -> Stream.ofNullable((Map<?, ?>) fork.get("sandbox")))
              .forEach(sandbox -> made.add(String.valueOf(sandbox.get("id"))));
        }
        return wrong(answer);
      } catch (IOException | RuntimeException e) {
        return e.toString();
      }
    }

    private static String wrong(TestClient.Response answer) {
      if (answer.status() == 500) {
        return "our fault: " + answer.text();
      }
      if (answer.status() < 400) {
        return "";
      }
      boolean problem =
          answer.type().equals("application/problem+json")
              && answer.json().containsKey("code")
              && !answer.field("remedy").isBlank()
              && !answer.field("category").equals("BUG");
      return problem ? "" : "no problem answer: " + answer.type() + " " + answer.text();
    }

    @Override
    public void close() {
      house.close();
    }
  }

  @Test
  void tenThousandRequestsAreNeverOurFaultAndLoseNothing() throws Exception {
    System.out.println("seed of the requests: -Disola.fuzz.seed=" + SEED);
    try (FuzzFixture field = new FuzzFixture(folder)) {
      Map<String, Object> document = field.house.client("").get("/api/v1/openapi.json").json();
      List<String> wrong = new ArrayList<>();
      try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<List<String>>> all = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
          Random random = new Random(SEED + i);
          all.add(callers.submit(() -> call(field, document, random)));
        }
        for (Future<List<String>> one : all) {
          wrong.addAll(one.get());
        }
      }
      String seed = "seed " + SEED + ", answers by hundreds " + field.answers;
      assertThat(wrong).as(seed).isEmpty();
      // A provider that cannot do what was asked is warned of, too.
      assertThat(field.house.warnings).as(seed).noneMatch(one -> one.startsWith("request "));
      // Requests that all fail, or all work, show little.
      assertThat(field.answers.get(2)).as(seed).isGreaterThan(REQUESTS / 20);
      assertThat(field.answers.get(4)).as(seed).isGreaterThan(REQUESTS / 20);
      nothingIsLost(field);
      nothingIsLeft(field);
    }
  }

  private static List<String> call(FuzzFixture field, Map<String, Object> document, Random random) {
    List<String> wrong = new ArrayList<>();
    RequestFuzzer mine = new RequestFuzzer(document, random, field.playground);
    RequestFuzzer attack = new RequestFuzzer(document, random, List.of(field.standing));
    for (int i = 0; i < REQUESTS / CALLERS; i++) {
      boolean attacks = random.nextInt(4) == 0;
      RequestFuzzer.FuzzedRequest sent = attacks ? attack.next() : mine.next();
      // Nobody who may change the sandbox that has to stand is told its name.
      String key = attacks ? (random.nextBoolean() ? "" : field.house.read) : field.house.use;
      String found = field.send(sent, key);
      if (!found.isEmpty()) {
        wrong.add(sent + " -> " + found);
      }
    }
    return wrong;
  }

  private static void nothingIsLost(FuzzFixture field) throws IOException {
    TestClient client = field.house.client();
    assertThat(client.get("/api/v1/sandboxes/" + field.standing).json())
        .containsEntry("state", "running");
    assertThat(client.get(field.file()).text()).isEqualTo("what has to be there at the end");
    assertThat(
            client
                .post(
                    "/api/v1/sandboxes/" + field.standing + "/exec",
                    "{\"command\":\"cat kept/file.txt\"}")
                .field("stdout"))
        .isEqualTo("what has to be there at the end");
  }

  /** Whoever lives was made by an answer that said so; and once they are destroyed nobody lives. */
  private static void nothingIsLeft(FuzzFixture field) throws IOException {
    TestClient client = field.house.client();
    Map<String, Object> known = new HashMap<>();
    field.playground.forEach(id -> known.put(id, id));
    field.made.forEach(id -> known.put(id, id));
    for (Map<?, ?> one : client.get("/api/v1/sandboxes?limit=1000").list("sandboxes")) {
      String id = String.valueOf(one.get("id"));
      if (!id.equals(field.standing) && !"error".equals(one.get("state"))) {
        assertThat(known).as("a sandbox that nobody was told of").containsKey(id);
      }
      if (!id.equals(field.standing)) {
        assertThat(client.delete("/api/v1/sandboxes/" + id + "?force=true").status())
            .isEqualTo(204);
      }
    }
    List<String> left =
        field.house.registry.providers().values().iterator().next().inventory().stream()
            .map(InventoryItem::id)
            .map(id -> id.value())
            .toList();
    assertThat(left).containsExactly(field.standing);
  }

  @Test
  void anAnswerThatIsOurFaultIsNoticed() {
    Map<String, String> type = Map.of("content-type", "application/problem+json");
    String body = "{\"code\":\"INTERNAL\",\"remedy\":\"x\",\"category\":\"BUG\"}";
    assertThat(
            FuzzFixture.wrong(new TestClient.Response(500, type, dev.isola.spi.Bytes.utf8(body))))
        .isNotEmpty();
    assertThat(
            FuzzFixture.wrong(new TestClient.Response(502, type, dev.isola.spi.Bytes.utf8(body))))
        .isNotEmpty();
    assertThat(
            FuzzFixture.wrong(
                new TestClient.Response(404, Map.of(), dev.isola.spi.Bytes.utf8("x"))))
        .isNotEmpty();
  }
}
