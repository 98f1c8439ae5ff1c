package dev.isola.app.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.LiveServer;
import dev.isola.host.image.ImageStore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A1, S1: the API manages the same images as {@code isola image}. */
class ServeImagesTest {
  @TempDir Path folder;

  private static HttpResponse<String> call(
      LiveServer server, String method, String path, byte[] body)
      throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(
          HttpRequest.newBuilder(URI.create(server.url + "/api/v1/images" + path))
              .method(method, BodyPublishers.ofByteArray(body))
              .header("Authorization", "Bearer " + LiveServer.KEY)
              .build(),
          BodyHandlers.ofString());
    }
  }

  /** A ustar archive with one file. */
  private static byte[] archive(String name, String content) {
    byte[] head = new byte[512];
    put(head, 0, name);
    put(head, 100, "0000644");
    put(head, 108, "0000000");
    put(head, 116, "0000000");
    put(head, 124, String.format("%011o", content.length()));
    put(head, 136, "00000000000");
    put(head, 148, "        ");
    head[156] = '0';
    put(head, 257, "ustar");
    put(head, 263, "00");
    int sum = 0;
    for (byte each : head) {
      sum += each & 0xff;
    }
    put(head, 148, String.format("%06o", sum) + "\0 ");
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(head);
    all.writeBytes(content.getBytes(StandardCharsets.US_ASCII));
    all.writeBytes(new byte[512 - content.length() + 1024]);
    return all.toByteArray();
  }

  private static void put(byte[] head, int at, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(bytes, 0, head, at, bytes.length);
  }

  @Test
  void addsListsAndRemovesImages() throws Exception {
    byte[] nothing = new byte[0];
    try (LiveServer server = LiveServer.start(folder)) {
      assertThat(call(server, "GET", "", nothing).body()).isEqualTo("{\"images\":[]}");
      HttpResponse<String> made = call(server, "PUT", "/mine", archive("etc-issue", "hello"));
      assertThat(made.statusCode()).as(made.body()).isEqualTo(200);
      assertThat(made.body()).contains("\"name\":\"mine\"", "\"size\":5");
      assertThat(new ImageStore(folder).require("mine").rootfs().resolve("etc-issue"))
          .hasContent("hello");
      assertThat(call(server, "GET", "", nothing).body()).contains("\"name\":\"mine\"");
      assertThat(call(server, "GET", "/mine", nothing).body()).contains("\"digest\":\"sha256:");

      assertThat(call(server, "PUT", "/mine", archive("x", "y")).statusCode()).isEqualTo(409);
      assertThat(call(server, "PUT", "/mine?replace=true", archive("x", "yy")).body())
          .contains("\"size\":2");
      assertThat(call(server, "PUT", "/No..Name", archive("x", "y")).statusCode()).isEqualTo(400);
      assertThat(call(server, "PUT", "/junk", new byte[] {1, 2, 3}).statusCode()).isEqualTo(400);
      assertThat(call(server, "GET", "/none", nothing).statusCode()).isEqualTo(404);

      assertThat(call(server, "DELETE", "/mine", nothing).statusCode()).isEqualTo(204);
      assertThat(call(server, "DELETE", "/mine", nothing).statusCode()).isEqualTo(404);
      assertThat(new ImageStore(folder).list()).isEmpty();
    }
  }

  @Test
  void failedPullEndsWithTheReason() throws Exception {
    try (LiveServer server = LiveServer.start(folder)) {
      String order = "{\"name\":\"mine\",\"source\":\"oci:" + folder.resolve("none") + "\"}";
      HttpResponse<String> answer =
          call(server, "POST", "", order.getBytes(StandardCharsets.UTF_8));
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body()).contains("event: problem", "\"remedy\":");
      assertThat(answer.body()).doesNotContain("event: image");
    }
  }
}
