package dev.isola.app.backup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.HttpCalls;
import dev.isola.app.LiveServer;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Backup and restore of an installation whose ledger is in PostgreSQL. The server of the test has
 * no {@code pg_dump}, so copies of the tables stand for its file.
 */
@Timeout(180)
class PostgresBackupTest {
  private static EmbeddedPostgres postgres;
  private static String store;

  @TempDir static Path clusterFolder;
  @TempDir Path folder;
  private Path data;
  private Path archive;

  @BeforeAll
  static void startPostgres() throws IOException {
    Path memory = Path.of("/dev/shm");
    postgres =
        EmbeddedPostgres.builder()
            .setDataDirectory(
                Files.isWritable(memory)
                    ? Files.createTempDirectory(memory, "isola-postgres-")
                    : clusterFolder)
            .setPGStartupWait(Duration.ofSeconds(60))
            .start();
    store =
        "store.url=postgresql://postgres:postgres@localhost:" + postgres.getPort() + "/postgres";
  }

  @AfterAll
  static void stopPostgres() throws IOException {
    postgres.close();
  }

  @BeforeEach
  void name() {
    data = folder.resolve("data");
    archive = folder.resolve("backup.tar");
  }

  @AfterEach
  void purge() {
    CommandResult purged = isola("purge", "--yes", "--set", "floor=process");
    assertThat(purged.code()).as(purged.out() + purged.err()).isZero();
    assertThat(purged.out()).contains("stays: the ledger in PostgreSQL");
    assertThat(data).doesNotExist();
  }

  private CommandResult isola(String... arguments) {
    return new CommandLineFixture(data, new SubprocessProviderFactory())
        .call(
            Stream.concat(Stream.of(arguments), Stream.of("--set", store)).toArray(String[]::new));
  }

  private LiveServer start() {
    return LiveServer.start(data, new SubprocessProviderFactory(), "floor=process", store);
  }

  private static HttpCalls calls(LiveServer server) {
    return new HttpCalls(server.url, LiveServer.KEY);
  }

  @Test
  void restoredLedgerKeepsSandboxesThatAreNewerThanTheBackup() throws Exception {
    String key;
    String old;
    String snapshot;
    String newer;
    try (LiveServer server = start()) {
      HttpCalls api = calls(server);
      key = api.call("POST", "/api/v1/keys", "{\"name\":\"ci\",\"scope\":\"use\"}").text("key");
      old = api.create("{\"secretEnv\":{\"TOKEN\":\"hidden\"}}");
      assertThat(api.exec(old, "echo kept > file; cat file")).isEqualTo("kept\n");
      snapshot = api.call("POST", "/api/v1/sandboxes/" + old + "/snapshots", "{}").text("id");
      CommandResult backup = isola("backup", archive.toString());
      assertThat(backup.code()).as(backup.err()).isZero();
      assertThat(backup.out()).contains("snapshots: 1").doesNotContain("the ledger");
      assertThat(backup.err()).contains("back it up with pg_dump now");
      copyTables("isola", "dump");
      newer = api.create("{}");
      api.call("DELETE", "/api/v1/keys/ci", "");
    }
    copyTables("dump", "isola");
    CommandResult copy = isola("restore", archive.toString());
    assertThat(copy.err()).contains("is that of the installation in the backup", "--replace");
    CommandResult restored = isola("restore", "--replace", archive.toString());
    assertThat(restored.code()).as(restored.err()).isZero();
    try (LiveServer server = start()) {
      HttpCalls api = new HttpCalls(server.url, key);
      assertThat(api.exec(old, "echo $TOKEN")).isEqualTo("hidden\n");
      assertThat(api.send("GET", "/api/v1/sandboxes/" + newer, "").statusCode()).isEqualTo(404);
      assertThat(server.log()).contains("sandbox " + newer).contains("after the backup");
      String again = api.create("{\"image\":\"snapshot:" + snapshot + "\"}");
      assertThat(api.exec(again, "cat file")).isEqualTo("kept\n");
    }
    assertThat(data.resolve("subprocess/sandboxes").resolve(newer)).exists();
    assertThat(isola("restore", "--destroy-unrecorded").code()).isZero();
    try (LiveServer server = start()) {
      assertThat(calls(server).exec(old, "echo on")).isEqualTo("on\n");
    }
    assertThat(data.resolve("subprocess/sandboxes").resolve(newer)).doesNotExist();
  }

  /** Replaces the tables of a schema by those of another, in one transaction. */
  private static void copyTables(String from, String to) throws SQLException {
    try (Connection connection = postgres.getPostgresDatabase().getConnection();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      statement.execute("set session_replication_role = replica"); // no check of foreign keys
      statement.execute("create schema if not exists " + to);
      List<String> tables = new ArrayList<>();
      try (ResultSet found =
          statement.executeQuery(
              "select tablename from pg_tables where schemaname = '" + from + "'")) {
        while (found.next()) {
          tables.add("\"" + found.getString(1) + "\"");
        }
      }
      assertThat(tables).isNotEmpty();
      for (String table : tables) {
        String target = to + "." + table;
        String source = from + "." + table;
        statement.execute("create table if not exists " + target + " (like " + source + ")");
        statement.execute("delete from " + target);
        statement.execute(
            "insert into " + target + " overriding system value select * from " + source);
      }
      connection.commit();
    }
  }
}
