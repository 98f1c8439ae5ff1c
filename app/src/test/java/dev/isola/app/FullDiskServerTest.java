package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.codec.json.JsonValue;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.testing.program.SmallDisk;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A sandbox of a key with scope {@code use} takes every free block of the server's disk, while
 * others run.
 */
@Tag("all")
class FullDiskServerTest {
  private static final String PROVIDER = "isola.test.provider";

  @ParameterizedTest
  @ValueSource(strings = {"subprocess", "bubblewrap"})
  void sandboxesAreDestroyedAndExpireWhileOneOfThemFillsTheDisk(String provider) throws Exception {
    try (TemporaryFolder folder = TemporaryFolder.create("isola-full-")) {
      SmallDisk.run(
          folder.path(), 128, Work.class, List.of("-Xmx384m", "-D" + PROVIDER + "=" + provider));
    }
  }

  /** Runs on the small disk. */
  static final class Work {
    private static final int SANDBOXES = 20;

    private final Path data;
    private LiveServer server;
    private HttpCalls admin;

    private Work(Path data) {
      this.data = data;
      server = start();
      admin = new HttpCalls(server.url, LiveServer.KEY);
    }

    public static void main(String[] args) throws Exception {
      Work work = new Work(Path.of(args[0]));
      try {
        work.run();
      } finally {
        work.server.close();
      }
      System.out.println(SmallDisk.DONE);
      System.exit(0);
    }

    private LiveServer start() {
      return LiveServer.start(
          data,
          System.getProperty(PROVIDER, "").equals("bubblewrap")
              ? new BubblewrapProviderFactory()
              : new SubprocessProviderFactory(),
          "floor=process",
          "shutdown=leave",
          "admission.queue_timeout=0s",
          "expiry.interval=200ms");
    }

    private void run() throws IOException, InterruptedException {
      awaitReady();
      HttpCalls user =
          new HttpCalls(
              server.url,
              admin.call("POST", "/api/v1/keys", "{\"name\":\"u\",\"scope\":\"use\"}").text("key"));
      refusesLargeDisk(user);
      List<String> others = new ArrayList<>();
      for (int i = 0; i < SANDBOXES; i++) {
        others.add(admin.create("{}"));
      }
      String greedy = user.create("{}");
      String expiring = admin.create("{\"ttlSeconds\":3}");
      assertThat(
              user.send(
                      "POST",
                      "/api/v1/sandboxes/" + greedy + "/executions",
                      "{\"command\":\"while :; do cat /dev/zero >> fill; done 2> /dev/null\"}")
                  .statusCode())
          .isBetween(200, 299);
      await().until(() -> status("/readyz") == 503);
      await().until(() -> Files.getFileStore(data).getUsableSpace() < 4096);

      HttpResponse<String> refused = admin.send("POST", "/api/v1/sandboxes", "{}");
      assertThat(refused.statusCode()).as(refused.body()).isEqualTo(507);
      assertThat(refused.body()).contains("DISK_FULL", "destroy sandboxes");
      assertThat(admin.send("GET", "/readyz", "").body()).contains("a disk of the server is full");
      refused = admin.send("POST", "/api/v1/keys", "{\"name\":\"v\",\"scope\":\"use\"}");
      assertThat(refused.statusCode()).as(refused.body()).isEqualTo(507);

      await().until(() -> isGone(expiring));
      for (String id : others.subList(0, SANDBOXES / 2)) {
        delete(id);
      }
      restart();
      for (String id : others.subList(SANDBOXES / 2, SANDBOXES)) {
        delete(id);
      }
      admin.call("DELETE", "/api/v1/keys/u", "");
      delete(greedy);
      awaitReady();
      delete(admin.create("{}"));
      admin.call("POST", "/api/v1/keys", "{\"name\":\"v\",\"scope\":\"use\"}");
      List<String> audit = Files.readAllLines(data.resolve("audit.jsonl"), StandardCharsets.UTF_8);
      for (String id : others) {
        assertThat(audit)
            .as("the destruction of %s is in the audit log", id)
            .anyMatch(line -> line.contains(id) && line.contains("estroy"));
      }
    }

    /** What other sandboxes hold is not lost by a restart, and they can be destroyed after it. */
    private void restart() {
      server.close();
      server = start();
      admin = new HttpCalls(server.url, LiveServer.KEY);
      await().until(() -> admin.send("GET", "/api/v1/sandboxes", "").statusCode() == 200);
    }

    private void refusesLargeDisk(HttpCalls user) throws IOException, InterruptedException {
      HttpResponse<String> large =
          user.send("POST", "/api/v1/sandboxes", "{\"resources\":{\"disk\":1073741824}}");
      assertThat(large.statusCode()).isEqualTo(400);
      assertThat(large.body()).contains("INVALID_SPEC", "sandbox.max_disk_mb");
      JsonValue small = user.call("POST", "/api/v1/sandboxes", "{\"resources\":{\"disk\":64}}");
      if (!user.call("GET", "/api/v1/sandboxes/" + small.text("id"), "")
          .text("provider")
          .equals("bubblewrap")) {
        assertThat(small.at("unenforcedRequestedLimits").items())
            .extracting(JsonValue::toString)
            .anyMatch(limit -> limit.contains("disk"));
      }
      delete(small.text("id"));
    }

    private boolean isGone(String id) throws IOException, InterruptedException {
      HttpResponse<String> found = admin.send("GET", "/api/v1/sandboxes/" + id, "");
      return found.statusCode() == 200 && found.body().contains("\"destroyed\"");
    }

    private void delete(String id) throws IOException, InterruptedException {
      HttpResponse<String> gone =
          admin.send("DELETE", "/api/v1/sandboxes/" + id + "?force=true", "");
      assertThat(gone.statusCode()).as(gone.body()).isBetween(200, 299);
    }

    private void awaitReady() {
      await().until(() -> status("/readyz") == 200);
    }

    private int status(String path) throws IOException, InterruptedException {
      return admin.send("GET", path, "").statusCode();
    }
  }
}
