package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * G4: the routes for egress, with a provider that has no filtered network. What rules do is shown
 * with real sandboxes by testing/egress-here.sh.
 */
class EgressRoutesTest {
  @TempDir Path folder;
  private TestServer testServer;
  private TestClient use;

  @BeforeEach
  void open() throws IOException {
    testServer = new TestServer(folder);
    use = testServer.client(testServer.use);
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  private String sandbox() throws IOException {
    TestClient.Response created = use.post("/api/v1/sandboxes", "{}");
    assertThat(created.status()).as(created.text()).isEqualTo(201);
    return created.field("id");
  }

  private static TestClient.Response put(TestClient client, String path, String body)
      throws IOException {
    return client.send(
        "PUT", path, Map.of("Content-Type", "application/json"), body.getBytes(UTF_8));
  }

  @Test
  void sandboxWithoutFilteredNetworkHasNoRules() throws IOException {
    String path = "/api/v1/sandboxes/" + sandbox() + "/egress";

    for (TestClient.Response response :
        new TestClient.Response[] {
          use.get(path),
          put(use, path, "{\"rules\":[\"a.example\"]}"),
          use.post(path + "/allow", "{\"allow\":\"a.example\"}")
        }) {
      assertThat(response.status()).as(response.text()).isEqualTo(409);
      assertThat(response.text()).contains("ILLEGAL_STATE", "network mode filtered");
    }
  }

  @Test
  void invalidSettingsAreRefusedBeforeAnythingChanges() throws IOException {
    String path = "/api/v1/sandboxes/" + sandbox() + "/egress";

    TestClient.Response settings = put(use, path, "{\"rules\":[{\"allow\":\"a b\"}],\"x\":1}");
    TestClient.Response rule =
        use.post(path + "/allow", "{\"allow\":\"a.example\",\"deny\":\"b\"}");

    assertThat(settings.status()).isEqualTo(400);
    assertThat(settings.text()).contains("'a b'", "\"x\"");
    assertThat(rule.status()).isEqualTo(400);
    assertThat(rule.text()).contains("either allow or deny");
  }

  @Test
  void lesserCredentialsChangeNothing() throws IOException {
    String id = sandbox();
    String path = "/api/v1/sandboxes/" + id + "/egress";
    String token =
        use.post("/api/v1/sandboxes/" + id + "/tokens", "{\"scope\":\"use\",\"ttlSeconds\":60}")
            .field("token");

    for (TestClient lesser :
        new TestClient[] {testServer.client(testServer.read), testServer.client(token)}) {
      assertThat(lesser.get(path).status()).isIn(401, 403);
      assertThat(put(lesser, path, "{}").status()).isIn(401, 403);
      assertThat(lesser.post(path + "/allow", "{\"allow\":\"a.example\"}").status()).isIn(401, 403);
    }
    assertThat(use.get(path).status()).isEqualTo(409); // the control: allowed, but not filtered
  }

  @Test
  void unsupportedProviderIsNamed() throws IOException {
    TestClient.Response refused =
        use.post("/api/v1/sandboxes", "{\"network\":{\"allowDomains\":[\"a.example\"]}}");

    assertThat(refused.status()).as(refused.text()).isGreaterThanOrEqualTo(400);
    assertThat(refused.text()).contains("network mode filtered");
  }

  @Test
  void presetsAreListed() throws IOException {
    assertThat(use.get("/api/v1/egress/presets").text())
        .contains("package-registries", "pypi.org", "github", "none");
  }

  @Test
  void unknownPresetIsRefused() throws IOException {
    TestClient.Response refused =
        use.post("/api/v1/sandboxes", "{\"network\":{\"egress\":{\"presets\":[\"nope\"]}}}");

    assertThat(refused.status()).as(refused.text()).isEqualTo(400);
    assertThat(refused.text()).contains("nope");
  }
}
