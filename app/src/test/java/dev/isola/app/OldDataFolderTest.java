package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.client.Isola;
import dev.isola.client.SandboxFilter;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * O12: a server continues with the data folder of an older version. {@code old-data.tgz} was
 * written by the server of commit 8227171 as root with bubblewrap. It contains one sandbox
 * suspended as a snapshot when idle, one when expired, one destroyed sandbox; an E2B volume with a
 * file; an E2B template with a start command, whose image is not in the archive; one key.
 */
class OldDataFolderTest {
  private static final String OLD_KEY =
      "isk_45b26d80d8c0839d957075d0c48d1c918ed7448a1db06ba183df513e2d8f4ccd";
  private static final Duration HOUR = Duration.ofHours(1);
  private static final String VOLUME = "bap1mxgrxy29b48pbfix";
  private static final String TEMPLATE_IMAGE = "e2b-8woylyudckggpk638hpo";

  @TempDir Path folder;
  private LiveServer server;

  @BeforeEach
  void open() throws Exception {
    Assumptions.assumeTrue(
        Objects.equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"), 0),
        "NOT RUN: the volume is a file system of its own, which only root mounts");
    Assumptions.assumeTrue(
        System.getProperty("os.arch").equals("amd64"),
        "NOT RUN: the snapshots were taken on x86_64");
    Assumptions.assumeTrue(
        Files.exists(Path.of("/usr/bin/bwrap")), "NOT RUN: bubblewrap is not installed");
    Path data = Files.createDirectory(folder.resolve("data"));
    Path archive = folder.resolve("old-data.tgz");
    try (InputStream in =
        Objects.requireNonNull(OldDataFolderTest.class.getResourceAsStream("old-data.tgz"))) {
      Files.copy(in, archive);
    }
    Process tar =
        new ProcessBuilder("tar", "-xzf", archive.toString(), "-C", data.toString())
            .inheritIO()
            .start();
    assertThat(tar.waitFor()).isZero();
    moveExpiry(data.resolve("ledger/ledger.db"), "suspended1");
    SmallImage.addTo(data, folder, "base", "first\n");
    SmallImage.addTo(data, folder, TEMPLATE_IMAGE, "first\n");
    server = LiveServer.start(data, new BubblewrapProviderFactory());
  }

  @AfterEach
  void close() {
    if (server != null) {
      try (Isola client = server.client()) {
        client.list(SandboxFilter.ALL).forEach(one -> client.sandbox(one.id()).destroy());
      }
      server.close();
    }
  }

  /** The sandbox had a TTL of one year when the archive was made. */
  private static void moveExpiry(Path ledger, String sandbox) throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + ledger);
        PreparedStatement update =
            connection.prepareStatement(
                "UPDATE sandbox SET expires_at = ?, due_at = NULL WHERE id = ?")) {
      update.setLong(1, ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now().plus(HOUR)));
      update.setString(2, sandbox);
      assertThat(update.executeUpdate()).isEqualTo(1);
    }
  }

  private String get(String path, String header, String value)
      throws IOException, InterruptedException {
    return answer(HttpRequest.newBuilder(URI.create(server.url + path)).header(header, value));
  }

  private static String answer(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(request.build(), BodyHandlers.ofString()).body();
    }
  }

  private static String text(String json, String field) {
    Matcher found = Pattern.compile('"' + field + "\":\"([^\"]*)").matcher(json);
    assertThat(found.find()).as(json).isTrue();
    return found.group(1);
  }

  private String output(String sandbox, String script) {
    try (Isola client = server.client()) {
      return client.sandbox(sandbox).exec(script).stdout();
    }
  }

  @Test
  void suspendedSandboxesResumeWithTheirFiles() throws Exception {
    assertThat(get("/api/v1/sandboxes/suspended1", "Authorization", "Bearer " + OLD_KEY))
        .contains("\"team\":\"blue\"", "\"stopped\"");
    assertThat(output("suspended1", "cat file")).isEqualTo("kept\n");
    assertThat(output("expired1", "cat file")).isEqualTo("kept by expiry\n");
  }

  @Test
  void volumesKeepTheirFiles() throws Exception {
    assertThat(get("/volumes", "X-API-Key", OLD_KEY)).contains(VOLUME, "\"shared\"");
    String token = text(get("/volumes/" + VOLUME, "X-API-Key", OLD_KEY), "token");
    assertThat(
            get(
                "/volumecontent/" + VOLUME + "/file?path=/note",
                "Authorization",
                "Bearer " + token))
        .isEqualTo("of the volume");
  }

  @Test
  void templatesCreateSandboxesAndRunTheirStartCommand() throws Exception {
    assertThat(get("/templates", "X-API-Key", OLD_KEY)).contains("\"greeter\"", "\"ready\"");
    String made =
        answer(
            HttpRequest.newBuilder(URI.create(server.url + "/v2/sandboxes"))
                .header("X-API-Key", OLD_KEY)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"templateID\":\"greeter\"}")));
    assertThat(output(text(made, "sandboxID"), "cat /home/user/started; echo $GREETING"))
        .isEqualTo("started\nhello\n");
  }
}
