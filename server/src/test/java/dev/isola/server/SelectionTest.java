package dev.isola.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.server.auth.Scope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** D5: the provider of a create request is explained before the sandbox is created. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SelectionTest {
  private static final String SELECTION = "/api/v1/selection";
  private static final String SANDBOXES = "/api/v1/sandboxes";

  @TempDir static Path folder;
  private TestServer testServer;

  @BeforeAll
  void open() {
    testServer = new TestServer(folder);
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private Map<?, ?> only(TestClient.Response answer) {
    List<Map<?, ?>> providers = answer.list("providers");
    assertThat(providers).hasSize(1);
    return providers.getFirst();
  }

  @Test
  void chosenProviderIsTheOneThatCreateUses() throws IOException {
    TestClient client = testServer.client(testServer.use);
    TestClient.Response answer = client.post(SELECTION, "{}");
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    Map<?, ?> chosen = RequestFuzzer.map(answer.json().get("chosen"));
    assertThat(chosen.get("warm")).isEqualTo(false);
    assertThat(String.valueOf(chosen.get("reason"))).isNotBlank();
    assertThat(answer.json()).doesNotContainKey("problem");
    assertThat(only(answer).get("chosen")).isEqualTo(true);
    assertThat(only(answer).get("eligible")).isEqualTo(true);
    assertThat(client.get(SANDBOXES).list("sandboxes")).as("nothing is created").isEmpty();
    TestClient.Response created = client.post(SANDBOXES, "{}");
    assertThat(created.field("provider")).isEqualTo(chosen.get("provider"));
    assertThat(created.field("isolation")).isEqualTo(chosen.get("isolation"));
    client.delete(SANDBOXES + "/" + created.field("id") + "?force=true");
  }

  @Test
  void problemIsTheOneThatCreateFailsWith() throws IOException {
    for (String body :
        List.of(
            "{\"require\":{\"isolation\":\"vm\"}}",
            "{\"provider\":\"nosuch\"}",
            "{\"network\":{\"mode\":\"host\"}}",
            "{\"image\":\"snapshot:nosuch\",\"provider\":\"test\"}",
            "{\"template\":\"nosuch\"}")) {
      TestClient client = testServer.client(testServer.use);
      TestClient.Response created = client.post(SANDBOXES, body);
      assertThat(created.status()).as(body).isGreaterThanOrEqualTo(400);
      TestClient.Response answer = client.post(SELECTION, body);
      if (answer.status() != 200) {
        assertThat(answer.field("code")).as(body).isEqualTo(created.field("code"));
        assertThat(answer.status()).as(body).isEqualTo(created.status());
        continue;
      }
      assertThat(answer.json()).as(body).doesNotContainKey("chosen");
      Map<?, ?> problem = RequestFuzzer.map(answer.json().get("problem"));
      for (String field : List.of("code", "status", "detail", "remedy")) {
        assertThat(problem.get(field)).as(body).isEqualTo(created.json().get(field));
      }
    }
  }

  @Test
  void rejectedProviderHasItsReasonAndFix() throws IOException {
    TestClient.Response answer =
        testServer.client().post(SELECTION, "{\"require\":{\"isolation\":\"vm\"}}");
    Map<?, ?> provider = only(answer);
    assertThat(provider.get("eligible")).isEqualTo(false);
    assertThat(provider.get("chosen")).isEqualTo(false);
    assertThat(String.valueOf(provider.get("reasons")))
        .contains("is weaker than vm, which the request requires");
    assertThat(provider.get("fix")).isEqualTo("lower the required isolation");
  }

  @Test
  void hostAccessDependsOnTheKey() throws IOException {
    String body = "{\"network\":{\"mode\":\"host\"}}";
    Map<?, ?> problem =
        RequestFuzzer.map(
            testServer.client(testServer.use).post(SELECTION, body).json().get("problem"));
    assertThat(problem.get("code")).isEqualTo("FORBIDDEN");
    assertThat(String.valueOf(problem.get("detail"))).contains("this credential does not allow");
    Map<?, ?> admin =
        RequestFuzzer.map(testServer.client().post(SELECTION, body).json().get("problem"));
    assertThat(String.valueOf(admin.get("detail"))).contains("this server does not allow");
  }

  @Test
  void strictKeyAppliesToTheSelection() throws IOException {
    String strict = testServer.keys.create("strict", Scope.USE, true).secret();
    String body = "{\"provider\":\"auto\"}";
    TestClient client = testServer.client(strict);
    TestClient.Response created = client.post(SANDBOXES, body);
    TestClient.Response answer = client.post(SELECTION, body);
    assertThat(answer.json().containsKey("chosen")).isEqualTo(created.status() == 201);
  }

  @Test
  void adminChangesWhetherAnExistingKeyIsStrict() throws IOException {
    String user = testServer.keys.create("changed", Scope.USE).secret();
    String key = "/api/v1/keys/changed";
    for (String lesser : List.of(user, testServer.read, testServer.use)) {
      assertThat(patch(testServer.client(lesser), key, true).status()).isEqualTo(403);
    }
    assertThat(patch(testServer.client(), key, true).json())
        .containsEntry("strictNoFallback", true);
    assertThat(testServer.keys.byName("changed").orElseThrow().strictNoFallback()).isTrue();
    assertThat(patch(testServer.client(), key, false).json()).doesNotContainKey("strictNoFallback");
    assertThat(testServer.keys.byName("changed").orElseThrow().strictNoFallback()).isFalse();
    assertThat(patch(testServer.client(), "/api/v1/keys/nosuch", true).status()).isEqualTo(404);
  }

  private static TestClient.Response patch(TestClient client, String path, boolean strict)
      throws IOException {
    return client.send(
        "PATCH",
        path,
        Map.of("Content-Type", "application/json"),
        ("{\"strictNoFallback\":" + strict + "}").getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void invalidSpecHasAllViolations() throws IOException {
    String body = "{\"nosuch\":1,\"ttlSeconds\":-1}";
    TestClient.Response answer = testServer.client().post(SELECTION, body);
    TestClient.Response created = testServer.client().post(SANDBOXES, body);
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.field("detail")).isEqualTo(created.field("detail")).contains("nosuch");
  }

  @Test
  void selectionNeedsScopeUse() throws IOException {
    assertThat(testServer.client(testServer.read).post(SELECTION, "{}").status()).isEqualTo(403);
  }
}
