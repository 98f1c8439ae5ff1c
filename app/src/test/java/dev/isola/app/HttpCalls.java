package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.codec.json.JsonValue;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;

/** Calls the HTTP API of a server with a key. */
public record HttpCalls(String url, String key) {

  /** Sends a request and returns the response. */
  public HttpResponse<String> send(String method, String path, String body)
      throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(
          HttpRequest.newBuilder(URI.create(url + path))
              .header("Authorization", "Bearer " + key)
              .header("Content-Type", "application/json")
              .method(method, BodyPublishers.ofString(body))
              .build(),
          BodyHandlers.ofString());
    }
  }

  /** Sends a request that must succeed and returns the document of the response. */
  public JsonValue call(String method, String path, String body)
      throws IOException, InterruptedException {
    HttpResponse<String> response = send(method, path, body);
    assertThat(response.statusCode()).as(response.body()).isBetween(200, 299);
    return JsonValue.parse(
        (response.body().isEmpty() ? "{}" : response.body()).getBytes(StandardCharsets.UTF_8));
  }

  /** Creates a sandbox and returns its id. */
  public String create(String body) throws IOException, InterruptedException {
    return call("POST", "/api/v1/sandboxes", body).text("id");
  }

  /** Runs a script and returns its standard output. */
  public String exec(String sandbox, String script) throws IOException, InterruptedException {
    return call(
            "POST",
            "/api/v1/sandboxes/" + sandbox + "/exec",
            "{\"command\":\"" + script.replace("\"", "\\\"") + "\"}")
        .text("stdout");
  }
}
