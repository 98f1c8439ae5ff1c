package dev.isola.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** F1, F3: batches of file operations, and tree imports with progress. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BatchTest {
  @TempDir static Path folder;
  private TestServer testServer;
  private TestClient client;
  private String files;

  @BeforeAll
  void open() throws IOException {
    testServer = new TestServer(folder, Duration.ofSeconds(30), new SubprocessProviderFactory());
    client = testServer.client();
    files = "/api/v1/sandboxes/" + client.post("/api/v1/sandboxes", "{}").field("id") + "/files";
  }

  @AfterAll
  void close() throws IOException {
    client.delete(files.replace("/files", "?force=true"));
    testServer.close();
  }

  private TestClient.Response batch(String operations) throws IOException {
    return client.post(files + "/batch", "{\"operations\":[" + operations + "]}");
  }

  private static List<Boolean> oks(TestClient.Response answer) {
    return answer.list("results").stream().map(one -> Boolean.TRUE.equals(one.get("ok"))).toList();
  }

  @Test
  void batchSupportsEveryOperation() throws IOException {
    TestClient.Response answer =
        batch(
            """
            {"op":"mkdir","path":"b/deep","mode":"0700"},
            {"op":"write","path":"b/deep/text","content":"häl","mode":"0640"},
            {"op":"write","path":"b/deep/bytes","content":{"base64":"/wA="}},
            {"op":"move","path":"b/deep/text","to":"b/moved"},
            {"op":"chmod","path":"b/moved","mode":"0600"},
            {"op":"stat","path":"b/moved"},
            {"op":"read","path":"b/moved"},
            {"op":"read","path":"b/deep/bytes"},
            {"op":"remove","path":"b/deep","recursive":true}
            """);
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    assertThat(oks(answer)).hasSize(9).containsOnly(true);
    List<Map<?, ?>> results = answer.list("results");
    assertThat((Map<?, ?>) results.get(5).get("file"))
        .satisfies(file -> assertThat(file.get("mode")).isEqualTo("0600"))
        .satisfies(file -> assertThat(file.get("size")).isEqualTo(4));
    assertThat(results.get(6).get("content")).isEqualTo("häl");
    assertThat(results.get(7).get("content")).isEqualTo(Map.of("base64", "/wA="));
    assertThat(client.get(files + "/stat?path=b/deep").status()).isEqualTo(404);
  }

  @Test
  void batchStopsAtTheFirstFailureUnlessKeepGoingIsSet() throws IOException {
    String operations =
        """
        {"op":"write","path":"s/one","content":"1"},
        {"op":"read","path":"s/none"},
        {"op":"write","path":"s/two","content":"2"}
        """;
    TestClient.Response stopped = batch(operations);
    assertThat(oks(stopped)).isEqualTo(List.of(true, false));
    assertThat(stopped.json()).containsEntry("failed", 1).containsEntry("left", 1);
    assertThat((Map<?, ?>) stopped.list("results").get(1).get("problem"))
        .satisfies(problem -> assertThat(problem.get("code")).isEqualTo("FILE_NOT_FOUND"));
    assertThat(client.get(files + "/stat?path=s/two").status()).isEqualTo(404);
    TestClient.Response all =
        client.post(files + "/batch", "{\"keepGoing\":true,\"operations\":[" + operations + "]}");
    assertThat(oks(all)).isEqualTo(List.of(true, false, true));
    assertThat(client.get(files + "/content?path=s/two").text()).isEqualTo("2");
  }

  @Test
  void invalidOperationRejectsTheWholeBatch() throws IOException {
    String good = "{\"op\":\"write\",\"path\":\"n/one\",\"content\":\"1\"},";
    for (String bad :
        List.of(
            "{\"op\":\"write\",\"path\":\"n/two\"}",
            "{\"op\":\"chmod\",\"path\":\"n/one\",\"mode\":\"99\"}",
            "{\"op\":\"move\",\"path\":\"n/one\"}",
            "{\"op\":\"stat\",\"path\":\"n/one\",\"to\":\"x\"}",
            "{\"op\":\"write\",\"path\":\"n/one\",\"content\":{\"base64\":\"!\"}}",
            "{\"op\":\"explode\",\"path\":\"n/one\"}")) {
      TestClient.Response answer = batch(good + bad);
      assertThat(answer.status()).as(bad).isEqualTo(400);
      assertThat(answer.text()).as(bad).contains("operations[1]");
    }
    assertThat(client.get(files + "/stat?path=n/one").status()).isEqualTo(404);
  }

  @Test
  void contentReadByABatchIsLimited() throws IOException {
    byte[] half = new byte[5 << 20];
    assertThat(client.put(files + "/content?path=r/large", half).status()).isEqualTo(200);
    TestClient.Response answer =
        batch("{\"op\":\"read\",\"path\":\"r/large\"},{\"op\":\"read\",\"path\":\"r/large\"}");
    assertThat(oks(answer)).isEqualTo(List.of(true, false));
    assertThat(answer.text()).contains("RESOURCE_LIMIT");
  }

  @Test
  void treeExportReportsSizeAndImportReportsProgress() throws IOException {
    batch(
        "{\"op\":\"write\",\"path\":\"t/a/one\",\"content\":\"12345\"},"
            + "{\"op\":\"write\",\"path\":\"t/two\",\"content\":\"678\"}");
    TestClient.Response packed = client.get(files + "/tree?path=t&measure=true");
    assertThat(packed.headers())
        .containsEntry("isola-entries", "3")
        .containsEntry("isola-bytes", "8");
    byte[] archive = packed.body();
    String head =
        "POST "
            + files
            + "/tree?path=copy HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            + "Authorization: Bearer "
            + client.key()
            + "\r\nContent-Length: "
            + archive.length
            + "\r\n\r\n";
    try (TestClient.OpenResponse open = client.raw(head.getBytes(ISO_8859_1))) {
      assertThat(open.status()).isEqualTo(200);
      BufferedReader lines = new BufferedReader(new InputStreamReader(open.body(), UTF_8));
      OutputStream out = open.socket().getOutputStream();
      AtomicInteger sent = new AtomicInteger();
      await()
          .pollInterval(Duration.ofMillis(20))
          .until(
              () -> { // sends single bytes until the first progress event arrives
                out.write(archive, sent.getAndIncrement(), 1);
                out.flush();
                return lines.ready() && lines.readLine().equals("event: progress");
              });
      assertThat(lines.readLine()).startsWith("id: ");
      assertThat(lines.readLine()).startsWith("data: {\"bytes\":");
      out.write(Arrays.copyOfRange(archive, sent.get(), archive.length));
      out.flush();
      assertThat(lines.lines().toList().toString())
          .contains("event: done", "\"bytes\":8", "\"entries\":");
    }
    assertThat(client.get(files + "/content?path=copy/a/one").text()).isEqualTo("12345");
  }

  @Test
  void brokenArchiveIsReportedAsAnEvent() throws IOException {
    byte[] junk = new byte[4096];
    Arrays.fill(junk, (byte) 'x');
    TestClient.Response answer = client.send("POST", files + "/tree?path=junk", Map.of(), junk);
    assertThat(answer.text()).contains("event: problem", "BAD_ARCHIVE");
  }
}
