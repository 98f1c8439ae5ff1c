package dev.isola.app.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * C31: servers of this build and of one with a later migration work on one ledger while clients
 * work, and a server of this build does not start after the migration.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class MixedVersionsTest {
  @TempDir Path folder;
  private PostgresProcess postgres;

  @BeforeEach
  void startPostgres() throws IOException {
    postgres = PostgresProcess.start(folder);
  }

  @AfterEach
  void stopPostgres() throws IOException {
    postgres.close();
  }

  @Test
  void upgradeServerByServerKeepsSandboxesAndCommands() throws Exception {
    ServersInstallation.requireLong();
    String next = NextBuild.classPath(folder);
    try (ServersInstallation servers = ServersInstallation.start(folder, postgres.url())) {
      Observations seen =
          servers.workDuring(
              () -> {
                List<String> probes = servers.createProbes();
                FrontServer first = servers.fronts.getFirst();
                FrontServer last = servers.fronts.getLast();
                assertThat(schemaVersion()).isEqualTo(NextBuild.SCHEMA_VERSION - 1);
                upgrade(servers, first, next);
                assertThat(schemaVersion()).isEqualTo(NextBuild.SCHEMA_VERSION);
                useEachThroughTheOther(first, last);
                FrontServer second = servers.fronts.get(1);
                stop(second);
                refusesToStart(second);
                second.restart(next);
                servers.awaitReady(second);
                servers.client.awaitSuccesses(50); // clients work with both versions
                upgrade(servers, last, next);
                long now = System.nanoTime();
                long _ = servers.awaitRecovery(probes, last, now);
                servers.destroy(probes);
              });
      servers.report("upgrade to a build with one more migration", seen);
      servers.verify(seen);
    }
  }

  private static void stop(FrontServer front) throws InterruptedException {
    front.terminate();
    int _ = front.awaitEnd(Duration.ofSeconds(60));
  }

  private static void upgrade(ServersInstallation servers, FrontServer front, String classPath)
      throws Exception {
    stop(front);
    front.restart(classPath);
    servers.awaitReady(front);
  }

  /** A server of the older build is started once more after the migration. */
  private static void refusesToStart(FrontServer front) throws Exception {
    long before = Files.size(front.log());
    front.restart();
    assertThat(front.awaitEnd(Duration.ofMinutes(2))).isNotZero();
    String said = Files.readString(front.log()).substring((int) before);
    assertThat(said)
        .contains("has schema version " + NextBuild.SCHEMA_VERSION)
        .contains("supports up to " + (NextBuild.SCHEMA_VERSION - 1))
        .contains("the ledger is unchanged")
        .contains("run the newer version of Isola")
        .contains("restore the backup from before the upgrade");
  }

  /** Creates a sandbox at each of two servers, and runs a command in it through the other. */
  private static void useEachThroughTheOther(FrontServer one, FrontServer other)
      throws InterruptedException {
    try (TrafficClient first = new TrafficClient(one.url());
        TrafficClient second = new TrafficClient(other.url())) {
      use(first, second);
      use(second, first);
    }
  }

  private static void use(TrafficClient creator, TrafficClient user) throws InterruptedException {
    TrafficClient.Answer created =
        creator.repeat(
            creator
                .request("/api/v1/sandboxes")
                .header("Content-Type", "application/json")
                .POST(TrafficClient.json(Map.of("ttlSeconds", 1800)))
                .build(),
            Set.of());
    String id = created.field("id");
    TrafficClient.Answer ran =
        user.repeat(
            user.request("/api/v1/sandboxes/" + id + "/exec")
                .header("Content-Type", "application/json")
                .POST(TrafficClient.json(Map.of("argv", List.of("/bin/echo", "across"))))
                .build(),
            Set.of());
    assertThat(ran.field("stdout")).isEqualTo("across\n");
    TrafficClient.Answer destroyed =
        user.repeat(
            user.request("/api/v1/sandboxes/" + id + "?force=true").DELETE().build(), Set.of());
    assertThat(destroyed.isSuccess()).isTrue();
  }

  private int schemaVersion() throws SQLException {
    try (Connection connection = postgres.connect();
        Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery("select max(version) from isola.schema_version")) {
      assertThat(found.next()).isTrue();
      return found.getInt(1);
    }
  }
}
