package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.codec.json.JsonValue;
import dev.isola.provider.kubernetes.KubernetesProviderFactory;
import dev.isola.testing.cluster.TestCluster;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** A server whose sandboxes are pods of a real cluster, and a client that keeps its connection. */
final class PodServer implements AutoCloseable {
  static final String SANDBOXES = "/api/v1/sandboxes";

  private final LiveServer server;
  private final Path data;
  private final HttpClient client = HttpClient.newHttpClient();

  private PodServer(LiveServer server, Path data) {
    this.server = server;
    this.data = data;
  }

  /**
   * Starts a server; without a cluster the test is NOT RUN.
   *
   * @param pool the section of the configuration
   * @param settings of the provider: names and values
   */
  static PodServer start(Path folder, String pool, String... settings) throws IOException {
    TestCluster.missing().ifPresent(Assumptions::abort);
    TestCluster cluster = TestCluster.get();
    StringBuilder provider = new StringBuilder();
    for (int i = 0; i < settings.length; i += 2) {
      provider.append(", ").append(settings[i]).append(": '").append(settings[i + 1]).append("'");
    }
    Path file =
        Files.writeString(
            folder.resolve("isola.yaml"),
            "providers:\n  kubernetes: {kubeconfig: '%s', image: '%s', capacity_memory_mb: 1000000%s}\n%s"
                .formatted(cluster.kubeconfig(), cluster.image(), provider, pool));
    Path data = folder.resolve("data");
    return new PodServer(
        LiveServer.start(data, List.of(new KubernetesProviderFactory()), file), data);
  }

  String log() {
    return server.log();
  }

  HttpResponse<String> send(String method, String path, String body)
      throws IOException, InterruptedException {
    return client.send(
        HttpRequest.newBuilder(URI.create(server.url + path))
            .header("Authorization", "Bearer " + LiveServer.KEY)
            .header("Content-Type", "application/json")
            .method(method, BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  /** Sends a request that must succeed. */
  JsonValue call(String method, String path, String body) throws IOException, InterruptedException {
    HttpResponse<String> response = send(method, path, body);
    if (response.statusCode() / 100 != 2) {
      throw new AssertionError(method + " " + path + ": " + response.body() + "\n" + log());
    }
    return JsonValue.parse(
        (response.body().isEmpty() ? "{}" : response.body()).getBytes(StandardCharsets.UTF_8));
  }

  String create(String body) throws IOException, InterruptedException {
    return call("POST", SANDBOXES, body).text("id");
  }

  JsonValue get(String id) throws IOException, InterruptedException {
    return call("GET", SANDBOXES + "/" + id, "");
  }

  /** Returns the name of the pod of a sandbox. */
  static String pod(String id) throws IOException, InterruptedException {
    return TestCluster.get().kubectl("get", "pods", "-l", "dev.isola.sandbox=" + id, "-o", "name");
  }

  /** Ends the server and its sandboxes, also those of its pool. */
  @Override
  public void close() throws IOException {
    server.close();
    client.close();
    String instance = Files.readString(data.resolve("instance")).strip();
    try {
      String deleted =
          TestCluster.get()
              .kubectl("delete", "pods", "-l", "dev.isola.instance=" + instance, "--now");
      assertThat(deleted).doesNotContain("error");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
