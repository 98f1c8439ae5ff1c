package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Only the ports that a spec exposes are listed and can be previewed. */
class ExposedPortsTest {
  @TempDir Path folder;

  @Test
  void onlyExposedPortsAreForwardedOrPublished() throws IOException {
    try (TestServer testServer = new TestServer(folder)) {
      TestClient client = testServer.client();
      TestClient.Response made =
          client.post("/api/v1/sandboxes", "{\"network\":{\"exposePorts\":[8001,8000]}}");
      assertThat(made.status()).as(made.text()).isEqualTo(201);
      String ports = "/api/v1/sandboxes/" + made.field("id") + "/ports";
      assertThat(client.get(ports).text())
          .contains(
              "{\"ports\":[{\"port\":8000,\"public\":false,\"url\":\"http://8000-",
              "},{\"port\":8001,\"public\":false,\"url\":\"http://8001-");
      assertThat(client.get(ports + "/9000/").status()).isEqualTo(403);
      assertThat(client.get(ports + "/9000/").text()).contains("exposePorts");
      assertThat(open(client, ports + "/9000")).isEqualTo(403);
      assertThat(client.post(ports + "/9000/link", "{\"ttlSeconds\":9}").status()).isEqualTo(403);

      assertThat(client.get(ports + "/8000/").status()).as("closed port").isNotEqualTo(403);
      assertThat(open(client, ports + "/8000")).isEqualTo(200);
      assertThat(client.post(ports + "/8000/link", "{\"ttlSeconds\":9}").status()).isEqualTo(201);
      assertThat(client.get(ports).text()).contains("{\"port\":8000,\"public\":true,");
      assertThat(testServer.client("").get(ports + "/9000/").status())
          .as("not disclosed to a client without a key")
          .isEqualTo(401);
    }
  }

  @Test
  void everyPortIsAccessibleIfTheSpecExposesNone() throws IOException {
    try (TestServer testServer = new TestServer(folder)) {
      String id = testServer.client().post("/api/v1/sandboxes", "{}").field("id");
      String ports = "/api/v1/sandboxes/" + id + "/ports";
      assertThat(testServer.client().get(ports).text()).isEqualTo("{\"ports\":[]}");
      assertThat(testServer.client().get(ports + "/9000/").status()).isNotEqualTo(403);
    }
  }

  private static int open(TestClient client, String port) throws IOException {
    return client.send("PUT", port, Map.of(), "{\"public\":true}".getBytes(UTF_8)).status();
  }
}
