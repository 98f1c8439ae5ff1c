package dev.isola.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.spi.Health;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The volume API on a provider that supports volumes. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class VolumeApiTest {
  private static final String VOLUMES = "/api/v1/volumes";

  private TestServer testServer;
  private TestClient client;

  @BeforeAll
  void open(@TempDir Path folder) {
    testServer = new TestServer(folder, Duration.ofSeconds(30), new BubblewrapProviderFactory());
    client = testServer.client(testServer.use);
    assumeTrue(
        testServer.registry.get("bubblewrap").health() instanceof Health.Healthy,
        "NOT RUN: bubblewrap is not healthy here");
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private static TestClient.Response with(int status, TestClient.Response answer) {
    assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    return answer;
  }

  private void create(String name) throws IOException {
    with(201, client.post(VOLUMES, "{\"name\":\"" + name + "\"}"));
  }

  private String sandboxWith(String volume) throws IOException {
    return with(
            201,
            client.post(
                "/api/v1/sandboxes",
                "{\"volumes\":[{\"type\":\"volume\",\"source\":\""
                    + volume
                    + "\",\"destination\":\"/data\"}]}"))
        .field("id");
  }

  private void exec(String sandbox, String shell) throws IOException {
    TestClient.Response done =
        with(
            200,
            client.post(
                "/api/v1/sandboxes/" + sandbox + "/exec", "{\"command\":\"" + shell + "\"}"));
    assertThat(done.text()).contains("\"code\":0");
  }

  @Test
  void volumesAreCreatedListedAndRemoved() throws IOException {
    TestClient.Response made = with(201, client.post(VOLUMES, "{\"name\":\"data\"}"));
    assertThat(made.json())
        .containsEntry("name", "data")
        .containsEntry("provider", "bubblewrap")
        .containsEntry("state", "available")
        .containsKeys("id", "createdAt");
    assertThat(with(200, client.get(VOLUMES + "/data")).json()).isEqualTo(made.json());
    assertThat(with(200, client.get(VOLUMES)).list("volumes"))
        .anySatisfy(one -> assertThat(one.get("name")).isEqualTo("data"));
    with(409, client.post(VOLUMES, "{\"name\":\"data\"}"));
    with(400, client.post(VOLUMES, "{\"name\":\"../data\"}"));
    with(400, client.post(VOLUMES, "{\"name\":\"a\",\"size\":1}"));
    with(404, client.post(VOLUMES, "{\"name\":\"a\",\"provider\":\"none\"}"));
    with(204, client.delete(VOLUMES + "/data"));
    assertThat(with(404, client.get(VOLUMES + "/data")).field("code"))
        .isEqualTo("VOLUME_NOT_FOUND");
  }

  @Test
  void volumeFilesAreVisibleInSandboxesThatMountTheVolume() throws IOException {
    create("shared");
    String content = VOLUMES + "/shared/files/content?path=";
    assertThat(with(200, client.put(content + "in/note", "hello".getBytes(UTF_8))).json())
        .containsEntry("path", "/in/note")
        .containsEntry("size", 5);
    String sandbox = sandboxWith("shared");
    exec(sandbox, "grep -q hello /data/in/note && echo from inside > /data/out");
    assertThat(with(200, client.get(content + "out")).text()).isEqualTo("from inside\n");
    assertThat(with(200, client.get(VOLUMES + "/shared/files?path=.")).list("entries"))
        .extracting(one -> String.valueOf(one.get("path")))
        .containsExactlyInAnyOrder("/in", "/out");
    assertThat(with(409, client.delete(VOLUMES + "/shared")).text()).contains(sandbox);
    with(204, client.delete(VOLUMES + "/shared/files?path=in&recursive=true"));
    with(404, client.get(content + "in/note"));
    with(204, client.delete("/api/v1/sandboxes/" + sandbox + "?force=true"));
    with(204, client.delete(VOLUMES + "/shared"));
    assertThat(testServer.registry.get("bubblewrap").volumes().orElseThrow().list())
        .doesNotContain("shared");
  }

  @Test
  void directoryTreesAreImportedAndExported() throws IOException {
    create("trees");
    with(200, client.put(VOLUMES + "/trees/files/content?path=a/b", "x".getBytes(UTF_8)));
    byte[] archive = with(200, client.get(VOLUMES + "/trees/files/tree?path=a")).body();
    TestClient.Response in =
        client.send(
            "PUT",
            VOLUMES + "/trees/files/tree?path=copy",
            Map.of("Content-Type", "application/x-tar"),
            archive);
    assertThat(with(200, in).json()).containsKeys("entries", "bytes");
    assertThat(with(200, client.get(VOLUMES + "/trees/files/content?path=copy/b")).text())
        .isEqualTo("x");
    with(204, client.post(VOLUMES + "/trees/files/folder", "{\"path\":\"empty/one\"}"));
    assertThat(with(200, client.get(VOLUMES + "/trees/files/stat?path=empty/one")).field("type"))
        .isEqualTo("folder");
  }

  @Test
  void pathsOutsideAVolumeAreRejected() throws IOException {
    create("links");
    String sandbox = sandboxWith("links");
    exec(sandbox, "ln -s /etc /data/etc && ln -s /etc/hostname /data/name && ln -s ../.. /data/up");
    String files = VOLUMES + "/links/files";
    for (String path : List.of("name", "etc/hostname", "up/etc/hostname")) {
      assertThat(with(400, client.get(files + "/content?path=" + path)).field("code"))
          .as(path)
          .isEqualTo("PATH_OUTSIDE");
      with(400, client.put(files + "/content?path=" + path, "x".getBytes(UTF_8)));
    }
    for (String rest : List.of("?path=etc", "/tree?path=etc", "/stat?path=etc/hostname")) {
      with(400, client.get(files + rest));
    }
    with(400, client.delete(files + "?path=etc/hostname"));
    with(400, client.get(files + "/content?path=../etc/hostname"));
    with(400, client.delete(files + "?path=.&recursive=true"));
    assertThat(with(200, client.get(files + "/stat?path=name")).field("linkTarget"))
        .isEqualTo("/etc/hostname");
    with(204, client.delete(files + "?path=name"));
  }

  @Test
  void keyWithScopeReadCannotChangeVolumes() throws IOException {
    create("readable");
    with(200, client.put(VOLUMES + "/readable/files/content?path=a", "x".getBytes(UTF_8)));
    TestClient reader = testServer.client(testServer.read);
    assertThat(with(200, reader.get(VOLUMES + "/readable/files/content?path=a")).text())
        .isEqualTo("x");
    with(403, reader.put(VOLUMES + "/readable/files/content?path=a", "y".getBytes(UTF_8)));
    with(403, reader.delete(VOLUMES + "/readable"));
    with(403, reader.post(VOLUMES, "{\"name\":\"other\"}"));
    assertThat(with(200, reader.get(VOLUMES + "/readable/files/content?path=a")).text())
        .isEqualTo("x");
  }
}
