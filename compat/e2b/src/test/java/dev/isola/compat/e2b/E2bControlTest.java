package dev.isola.compat.e2b;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import dev.isola.server.route.JsonBody;
import dev.isola.server.route.Route;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** O1: E2B's control plane as its clients see it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class E2bControlTest {
  private static final JsonMapper JSON = new JsonMapper();

  private TestServer testServer;

  @BeforeAll
  void open(@TempDir Path folder) {
    testServer = E2bTestServer.open(folder);
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private TestClient.Response send(String method, String path, String body) throws IOException {
    return send(method, path, body, testServer.admin);
  }

  private TestClient.Response send(String method, String path, String body, String key)
      throws IOException {
    Map<String, String> headers = new HashMap<>();
    if (!key.isEmpty()) {
      headers.put("X-API-KEY", key);
    }
    if (!body.isEmpty()) {
      headers.put("Content-Type", "application/json");
    }
    return testServer.client("").send(method, path, headers, body.getBytes(UTF_8));
  }

  private TestClient.Response create(String more) throws IOException {
    TestClient.Response answer =
        send("POST", "/v2/sandboxes", "{\"templateID\":\"host\"" + more + "}");
    assertThat(answer.status()).as(answer.text()).isEqualTo(201);
    return answer;
  }

  private static List<Map<String, Object>> array(TestClient.Response answer) {
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return JSON.readValue(answer.body(), new TypeReference<List<Map<String, Object>>>() {});
  }

  @Test
  void sandboxHasAllRequiredFields() throws IOException {
    TestClient.Response made = create(",\"timeout\":60,\"metadata\":{\"a\":\"b\"},\"unknown\":{}");
    assertThat(made.json())
        .containsKeys("sandboxID", "templateID", "clientID", "envdVersion", "envdAccessToken");
    assertThat(made.field("trafficAccessToken")).isEqualTo("null");
    String id = made.field("sandboxID");
    assertThat(id).matches("[a-z0-9]+");
    Map<String, Object> info = send("GET", "/sandboxes/" + id, "").json();
    assertThat(info)
        .containsEntry("state", "running")
        .containsEntry("metadata", Map.of("a", "b"))
        .containsKeys("startedAt", "endAt", "cpuCount", "memoryMB", "diskSizeMB", "envdVersion")
        .containsEntry("envdAccessToken", made.json().get("envdAccessToken"));
    assertThat(send("DELETE", "/sandboxes/" + id, "").status()).isEqualTo(204);
    TestClient.Response gone = send("DELETE", "/sandboxes/" + id, "");
    assertThat(gone.status()).isEqualTo(404);
    assertThat(gone.json()).containsEntry("code", 404).containsKey("message");
  }

  @Test
  void domainIsThatOfTheRequestWithoutTheNameOfTheService() throws IOException {
    String id = create("").field("sandboxID");
    Map<String, String> domains =
        Map.of(
            "127.0.0.1:7777", "localhost:7777",
            "api.localhost:7777", "localhost:7777",
            "isola.example", "isola.example",
            "api.isola.example:8443", "isola.example:8443");
    for (Map.Entry<String, String> each : domains.entrySet()) {
      Map<String, String> headers = Map.of("Host", each.getKey(), "X-API-KEY", testServer.admin);
      assertThat(
              testServer
                  .client("")
                  .send("GET", "/sandboxes/" + id, headers, new byte[0])
                  .field("domain"))
          .as(each.getKey())
          .isEqualTo(each.getValue());
    }
    send("DELETE", "/sandboxes/" + id, "");
  }

  @Test
  void repeatedIdempotencyKeyCreatesOneSandbox() throws IOException {
    Map<String, String> headers =
        Map.of(
            "X-API-KEY", testServer.admin,
            "Content-Type", "application/json",
            "Idempotency-Key", "0c1b2a");
    byte[] wanted = "{\"templateID\":\"host\",\"metadata\":{\"a\":\"b\"}}".getBytes(UTF_8);
    byte[] other = "{\"templateID\":\"host\",\"timeout\":77}".getBytes(UTF_8);
    TestClient client = testServer.client("");
    TestClient.Response first = client.send("POST", "/v2/sandboxes", headers, wanted);
    TestClient.Response again = client.send("POST", "/v2/sandboxes", headers, wanted);
    assertThat(again.status()).as(again.text()).isEqualTo(201);
    assertThat(again.json()).isEqualTo(first.json());
    assertThat(client.send("POST", "/v2/sandboxes", headers, other).status()).isEqualTo(409);
    send("DELETE", "/sandboxes/" + first.field("sandboxID"), "");
  }

  @Test
  void tokenIsLimitedToItsSandbox() throws IOException {
    TestClient.Response one = create("");
    TestClient.Response other = create("");
    Map<String, String> own =
        Map.of(
            "E2b-Sandbox-Id", one.field("sandboxID"),
            "E2b-Sandbox-Port", "49983",
            "X-Access-Token", one.field("envdAccessToken"));
    Map<String, String> stolen = new HashMap<>(own);
    stolen.put("E2b-Sandbox-Id", other.field("sandboxID"));
    TestClient client = testServer.client("");
    byte[] nothing = new byte[0];
    assertThat(client.send("GET", "/envs", own, nothing).status()).isEqualTo(200);
    TestClient.Response refused = client.send("GET", "/envs", stolen, nothing);
    assertThat(refused.status()).isEqualTo(401);
    assertThat(refused.json()).containsEntry("code", 401);
    stolen.put("X-Access-Token", testServer.admin);
    assertThat(client.send("GET", "/envs", stolen, nothing).status()).isEqualTo(401);
  }

  @Test
  void everyControlRouteRequiresAKeyWithItsScope() throws IOException {
    List<Route> controlRoutes =
        testServer.routes.all().stream()
            .filter(one -> one.dialect() == E2bDialect.CONTROL)
            .toList();
    assertThat(controlRoutes).hasSizeGreaterThan(30);
    for (Route route : controlRoutes) {
      String path = route.template().replaceAll("\\{[a-z]+}", "nothing");
      String body = route.method().equals("GET") || route.method().equals("DELETE") ? "" : "{}";
      for (String key : List.of("", "e2b_0123", testServer.admin + "0")) {
        TestClient.Response answer = send(route.method(), path, body, key);
        assertThat(answer.status()).as(route.name() + " with " + key).isEqualTo(401);
        assertThat(answer.json()).containsEntry("code", 401).containsKey("message");
      }
      if (route.scope().isPresent() && route.scope().get() != dev.isola.server.auth.Scope.READ) {
        assertThat(send(route.method(), path, body, testServer.read).status())
            .as(route.name())
            .isEqualTo(403);
      }
    }
  }

  @Test
  void listsArePagedAndNewestFirst() throws IOException {
    String first = create(",\"metadata\":{\"list\":\"x y\"}").field("sandboxID");
    String second = create(",\"metadata\":{\"list\":\"x y\"}").field("sandboxID");
    String third = create(",\"metadata\":{\"list\":\"x y\"}").field("sandboxID");
    String query = "/v2/sandboxes?limit=2&metadata=list%3Dx%252520y";
    TestClient.Response page = send("GET", query, "");
    assertThat(array(page)).extracting(one -> one.get("sandboxID")).containsExactly(third, second);
    String next = page.headers().get("x-next-token");
    TestClient.Response rest = send("GET", query + "&nextToken=" + next, "");
    assertThat(array(rest)).extracting(one -> one.get("sandboxID")).containsExactly(first);
    assertThat(rest.headers()).doesNotContainKey("x-next-token");
    TestClient.Response oldest = send("GET", query + "&order=asc", "");
    assertThat(array(oldest))
        .extracting(one -> one.get("sandboxID"))
        .containsExactly(first, second);
    assertThat(send("GET", "/v2/sandboxes?state=asleep", "").json()).containsEntry("code", 400);
    assertThat(send("GET", "/v2/sandboxes?nextToken=rubbish", "").json())
        .containsEntry("code", 400);
  }

  @Test
  void pausingTwiceIsAConflictAndConnectResumes() throws IOException {
    String id = create("").field("sandboxID");
    assertThat(send("POST", "/sandboxes/" + id + "/pause", "{}").status()).isEqualTo(204);
    assertThat(send("POST", "/sandboxes/" + id + "/pause", "{}").json()).containsEntry("code", 409);
    Map<String, String> health = Map.of("E2b-Sandbox-Id", id);
    TestClient.Response asleep = testServer.client("").send("GET", "/health", health, new byte[0]);
    assertThat(asleep.status()).isEqualTo(502);
    assertThat(asleep.json()).containsEntry("code", 502).containsEntry("sandboxId", id);
    assertThat(send("POST", "/v2/sandboxes/" + id + "/connect", "{}").status()).isEqualTo(201);
    assertThat(send("POST", "/v2/sandboxes/" + id + "/connect", "{}").status()).isEqualTo(200);
    assertThat(send("POST", "/sandboxes/" + id + "/resume", "{}").json())
        .containsEntry("code", 409);
    assertThat(testServer.client("").send("GET", "/health", health, new byte[0]).status())
        .isEqualTo(204);
  }

  @Test
  void unsupportedOptionsAreRejected() throws IOException {
    for (String network :
        List.of(
            "{\"dnsServers\":[\"192.0.2.1\"]}",
            "{\"allowOut\":[\"a.example\"],\"denyOut\":[\"0.0.0.0/0\"]}",
            "{\"rules\":{\"a.example\":[{\"transform\":{\"headers\":{\"A\":\"b\"}}}]}}",
            "{\"egressProxy\":{\"address\":\"x\"}}")) {
      TestClient.Response answer =
          send("POST", "/v2/sandboxes", "{\"templateID\":\"host\",\"network\":" + network + "}");
      assertThat(answer.status()).as(network).isEqualTo(501);
    }
    String id = create("").field("sandboxID");
    String network = "/sandboxes/" + id + "/network";
    assertThat(send("PUT", network, "{}").status()).isEqualTo(204);
    assertThat(
            send("PUT", network, "{\"allowOut\":[\"a.example\"],\"denyOut\":[\"0.0.0.0/0\"]}")
                .status())
        .isEqualTo(501);
    assertThat(send("PUT", network, "{\"allowOut\":[\"a.example\"]}").status())
        .as("as at E2B, a name requires that everything else is denied")
        .isEqualTo(400);
    assertThat(
            send(
                    "POST",
                    "/v2/sandboxes",
                    "{\"templateID\":\"host\",\"metadata\":{\"isola.x\":\"y\"}}")
                .status())
        .isEqualTo(400);
    assertThat(send("POST", "/v2/sandboxes", "{\"templateID\":7}").status()).isEqualTo(400);
    assertThat(send("POST", "/v2/sandboxes", "{\"templateID\":\"none\"}").json())
        .containsEntry("code", 404);
  }

  @Test
  void secretsAreStoredForTheirHostsAndNotReturned() throws IOException {
    String value = "sk-planted1Value2With3Enough4Room5";
    assertThat(send("POST", "/secrets", "{\"name\":\"a\",\"value\":\"b\"}").status())
        .as("without hosts")
        .isEqualTo(400);
    String body =
        "{\"name\":\"openai\",\"value\":\""
            + value
            + "\",\"metadata\":{\"hosts\":\"api.example.com, *.example.org\"}}";
    TestClient.Response made = send("POST", "/secrets", body);
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    assertThat(made.field("secretID")).isEqualTo("openai");
    assertThat(send("POST", "/secrets", body).status()).isEqualTo(409);
    assertThat(
            send("POST", "/secrets/openai", "{\"metadata\":{\"hosts\":\"evil.example.com\"}}")
                .status())
        .as("hosts change only together with the value")
        .isEqualTo(400);
    TestClient.Response changed = send("POST", "/secrets/openai", "{\"value\":\"" + value + "2\"}");
    assertThat(changed.status()).as(changed.text()).isEqualTo(200);
    String listed = send("GET", "/secrets", "").text() + send("GET", "/secrets/openai", "").text();
    assertThat(listed).contains("api.example.com,*.example.org");
    assertThat(listed + made.text() + changed.text()).doesNotContain(value);
    assertThat(send("DELETE", "/secrets/openai", "").status()).isEqualTo(204);
    assertThat(send("GET", "/secrets/openai", "").status()).isEqualTo(404);
  }

  @Test
  void networkIsReportedAsGiven() throws IOException {
    String given =
        """
        {"allowOut":[],"allowPublicTraffic":false,"maskRequestHost":"localhost:${PORT}"}""";
    String id = create(",\"network\":" + given).field("sandboxID");
    assertThat(network(id)).isEqualTo(JsonBody.object(given.getBytes(UTF_8)));
    assertThat(network(create("").field("sandboxID")))
        .isEqualTo(Map.of("allowPublicTraffic", true));
    TestClient.Response refused =
        send(
            "POST",
            "/v2/sandboxes",
            "{\"templateID\":\"host\",\"network\":{\"denyOut\":[\"192.0.2.1\""
                + ",\"192.0.2.1\"".repeat(200)
                + "]}}");
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.field("message")).contains("network", "2000");
  }

  private Object network(String id) throws IOException {
    return Objects.requireNonNull(send("GET", "/sandboxes/" + id, "").json().get("network"));
  }

  @Test
  void providerWithoutVolumesRejectsCreate() throws IOException {
    TestClient.Response refused = send("POST", "/volumes", "{\"name\":\"data\"}");
    assertThat(refused.status()).isEqualTo(501);
    assertThat(refused.field("message")).contains("volumes");
    assertThat(array(send("GET", "/volumes", ""))).isEmpty();
  }

  @Test
  void invalidTemplateNamesAndTagsAreRejected() throws IOException {
    for (String name : List.of(":x", "name:", "", "a b", "name:a b", "A")) {
      assertThat(send("POST", "/v3/templates", "{\"name\":\"" + name + "\"}").status())
          .as(name)
          .isEqualTo(400);
      assertThat(tag("POST", "target", name, "\"v1\"").status()).as(name).isEqualTo(400);
      assertThat(tag("DELETE", "name", name, "\"v1\"").status()).as(name).isEqualTo(400);
    }
    for (String tags : List.of("", "\"\"", "\"a b\"", "\":x\"", "\"a/b\"", "7")) {
      assertThat(tag("POST", "target", "web", tags).status()).as(tags).isEqualTo(400);
      assertThat(tag("DELETE", "name", "web", tags).status()).as(tags).isEqualTo(400);
    }
    assertThat(tag("POST", "target", "never-built", "\"v1\"").json()).containsEntry("code", 404);
    assertThat(tag("DELETE", "name", "never-built", "\"v1\"").json()).containsEntry("code", 404);
  }

  private TestClient.Response tag(String method, String field, String name, String tags)
      throws IOException {
    return send(
        method, "/templates/tags", "{\"" + field + "\":\"" + name + "\",\"tags\":[" + tags + "]}");
  }

  @Test
  void templateThatWasNeverBuiltHasNoTags() throws IOException {
    TestClient.Response declared =
        send("POST", "/v3/templates", "{\"name\":\"unbuilt:v1\",\"tags\":[\"v2\"]}");
    assertThat(declared.status()).isEqualTo(202);
    assertThat(declared.json())
        .containsEntry("names", List.of("unbuilt"))
        .containsEntry("tags", List.of("v1", "v2"));
    assertThat(array(send("GET", "/templates/unbuilt/tags", ""))).isEmpty();
    assertThat(send("GET", "/templates/aliases/unbuilt:v1", "").status()).isEqualTo(404);
    assertThat(tag("POST", "target", "unbuilt", "\"v3\"").status()).isEqualTo(404);
    assertThat(send("POST", "/v3/templates", "{\"name\":\"unbuilt\"}").status()).isEqualTo(202);
    Map<String, Object> listed =
        array(send("GET", "/templates", "")).stream()
            .filter(one -> List.of("unbuilt").equals(one.get("names")))
            .findFirst()
            .orElseThrow();
    assertThat(listed)
        .containsEntry("buildStatus", "waiting")
        .containsEntry("buildCount", 2)
        .containsEntry("envdVersion", create("").json().get("envdVersion"));
  }
}
