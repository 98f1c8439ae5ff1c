package dev.isola.app.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.LiveServer;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigApiTest {
  private static final String SECRET = "hidden0123456789";

  @TempDir Path data;

  private static HttpResponse<String> send(HttpRequest.Builder request, String key)
      throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(
          request.header("Authorization", "Bearer " + key).build(),
          HttpResponse.BodyHandlers.ofString());
    }
  }

  @Test
  void operatorsSeeTheConfigurationWithoutSecrets() throws Exception {
    try (LiveServer server =
        LiveServer.start(
            data,
            new SubprocessProviderFactory(),
            "floor=process",
            "admission.memory_mb=4096",
            "providers.subprocess.api_key=" + SECRET)) {
      HttpResponse<String> response =
          send(HttpRequest.newBuilder(URI.create(server.url + "/api/v1/config")), LiveServer.KEY);
      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(response.body())
          .contains("{\"key\":\"admission.memory_mb\",\"value\":\"4096\",\"from\":\"flag")
          .contains("{\"key\":\"health.interval\",\"value\":\"30s\",\"from\":\"default\"}")
          .contains("providers.subprocess.api_key")
          .doesNotContain(SECRET);
    }
  }

  @Test
  void lesserKeysDoNot() throws Exception {
    try (LiveServer server =
        LiveServer.start(data, new SubprocessProviderFactory(), "floor=process")) {
      for (String scope : new String[] {"read", "use"}) {
        String body = "{\"name\":\"" + scope + "\",\"scope\":\"" + scope + "\"}";
        String created =
            send(
                    HttpRequest.newBuilder(URI.create(server.url + "/api/v1/keys"))
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(body)),
                    LiveServer.KEY)
                .body();
        String key = created.replaceFirst("(?s).*\"key\"\\s*:\\s*\"([^\"]+)\".*", "$1");
        assertThat(
                send(HttpRequest.newBuilder(URI.create(server.url + "/api/v1/config")), key)
                    .statusCode())
            .as(scope)
            .isEqualTo(403);
      }
    }
  }
}
