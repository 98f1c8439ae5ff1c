package dev.isola.app.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A11: {@code pg_dump} of the ledger of three servers while clients work, {@code pg_restore} into a
 * fresh schema, and servers that continue with it.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class SharedLedgerRestoreTest {
  /** No data folder is needed; this one stays empty. */
  @TempDir Path empty;

  @TempDir Path folder;
  private SystemPostgres postgres;

  @BeforeEach
  void startPostgres() throws Exception {
    postgres = SystemPostgres.start(folder.resolve("postgres"));
  }

  @AfterEach
  void stopPostgres() {
    if (postgres != null) {
      postgres.close();
    }
  }

  private CommandResult restore(String... arguments) {
    List<String> words = new ArrayList<>(List.of("restore"));
    words.addAll(List.of(arguments));
    words.addAll(List.of("--set", "store.url=" + postgres.url()));
    return new CommandLineFixture(empty.resolve("data"), new SubprocessProviderFactory())
        .call(words.toArray(String[]::new));
  }

  @Test
  void restoredServersContinueOldSandboxesAndLeaveNewerOnes() throws Exception {
    ServersInstallation.requireLong();
    Path dump = folder.resolve("isola.dump");
    List<String> old = new ArrayList<>();
    AtomicReference<Instant> began = new AtomicReference<>(Instant.EPOCH);
    try (ServersInstallation servers =
        ServersInstallation.start(folder, postgres.url(), "reconcile.interval=2s")) {
      Observations seen =
          servers.workDuring(
              () -> {
                old.addAll(servers.createProbes());
                servers.client.awaitSuccesses(50);
                began.set(Instant.now());
                dump(dump);
                servers.client.awaitSuccesses(20);
              });
      servers.report("pg_dump", seen);
      servers.verify(seen);
      List<String> newer = List.of(create(servers), create(servers), create(servers));

      CommandResult early = restore("--mark-gap", began.get().toString());
      assertThat(early.code()).isNotZero();
      assertThat(early.err()).contains("in use by Isola servers that share it");

      stopAll(servers);
      restoreSchema(dump);
      CommandResult marked = restore("--mark-gap", began.get().toString());
      assertThat(marked.code()).as(marked.err()).isZero();
      assertThat(marked.err()).contains("are left until they expire");
      assertThat(empty.resolve("data")).doesNotExist();
      startAll(servers);

      for (String id : old) {
        assertThat(run(servers, id)).as("a sandbox of the backup").isEqualTo("on\n");
      }
      for (String id : newer) {
        awaitLog(servers, "sandbox " + id);
        TrafficClient.Answer answer =
            servers.client.repeat(
                servers.client.request("/api/v1/sandboxes/" + id).GET().build(), Set.of(404));
        assertThat(answer.status()).isEqualTo(404);
      }
      assertThat(servers.onMachine()).containsAll(newer).containsAll(old);

      stopAll(servers);
      assertThat(restore("--destroy-unrecorded").code()).isZero();
      startAll(servers);
      await()
          .atMost(Duration.ofMinutes(2))
          .until(() -> servers.onMachine().stream().noneMatch(newer::contains));
      assertThat(servers.onMachine()).containsAll(old);
      servers.destroy(old);
    }
  }

  @Test
  void gapIsRefusedWhereNothingWasRestored() {
    CommandResult fresh = restore("--mark-gap", "2026-01-31T02:00:00Z");
    assertThat(fresh.code()).isNotZero();
    assertThat(fresh.err()).contains("no server has ever used it").contains("pg_restore");

    CommandResult future = restore("--mark-gap", "9999-01-31T02:00:00Z");
    assertThat(future.code()).isNotZero();
    assertThat(future.err()).contains("cannot have begun at 9999");

    CommandResult noTime = restore("--mark-gap", "yesterday");
    assertThat(noTime.code()).isNotZero();
    assertThat(noTime.err()).contains("is not a time with a zone");

    CommandResult both = restore("--mark-gap", "2026-01-31T02:00:00Z", "backup.tar");
    assertThat(both.code()).isNotZero();
    assertThat(both.err()).contains("use it alone");
  }

  private void dump(Path file) throws IOException, InterruptedException {
    String _ =
        postgres.run(
            "pg_dump", "--format=custom", "--schema=isola", "--file=" + file, postgres.url());
    assertThat(file).isNotEmptyFile();
  }

  private void restoreSchema(Path dump) throws IOException, InterruptedException {
    String _ = postgres.run("psql", postgres.url(), "-c", "drop schema isola cascade");
    String _ =
        postgres.run(
            "pg_restore", "--exit-on-error", "--dbname=" + postgres.url(), dump.toString());
  }

  private static void stopAll(ServersInstallation servers) throws InterruptedException {
    servers.fronts.forEach(FrontServer::terminate);
    for (FrontServer front : servers.fronts) {
      int _ = front.awaitEnd(Duration.ofMinutes(1));
    }
  }

  private static void startAll(ServersInstallation servers) throws IOException {
    for (FrontServer front : servers.fronts) {
      front.restart();
    }
    servers.fronts.forEach(servers::awaitReady);
  }

  private static void awaitLog(ServersInstallation servers, String text) {
    await()
        .atMost(Duration.ofMinutes(2))
        .until(
            () -> {
              for (FrontServer front : servers.fronts) {
                boolean found =
                    Files.readString(front.log())
                        .lines()
                        .anyMatch(line -> line.contains(text) && line.contains("after the backup"));
                if (found) {
                  return true;
                }
              }
              return false;
            });
  }

  private static String create(ServersInstallation servers) throws InterruptedException {
    TrafficClient client = servers.client;
    TrafficClient.Answer answer =
        client.repeat(
            client
                .request("/api/v1/sandboxes")
                .header("Content-Type", "application/json")
                .POST(TrafficClient.json(Map.of("ttlSeconds", 1800)))
                .build(),
            Set.of());
    assertThat(answer.isSuccess()).as(TrafficClient.text(answer)).isTrue();
    return answer.field("id");
  }

  private static String run(ServersInstallation servers, String id) throws InterruptedException {
    TrafficClient client = servers.client;
    TrafficClient.Answer answer =
        client.repeat(
            client
                .request("/api/v1/sandboxes/" + id + "/exec")
                .header("Content-Type", "application/json")
                .POST(TrafficClient.json(Map.of("argv", List.of("/bin/echo", "on"))))
                .build(),
            Set.of());
    return answer.field("stdout");
  }
}
