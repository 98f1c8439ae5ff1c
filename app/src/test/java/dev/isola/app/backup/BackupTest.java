package dev.isola.app.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.HttpCalls;
import dev.isola.app.LiveServer;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A backup of a running server: it is consistent under traffic, and a restore brings back records,
 * snapshots, keys and secrets without harm to sandboxes that the backup does not know.
 */
@Timeout(180)
class BackupTest {
  private static final String SECRET =
      "{\"value\":\"planted-value\",\"hosts\":[\"api.example.com\"]}";

  @TempDir Path folder;
  private Path data;
  private Path archive;

  @BeforeEach
  void name() {
    data = folder.resolve("data");
    archive = folder.resolve("backup.tar");
  }

  private CommandResult isola(String... arguments) {
    return new CommandLineFixture(data, new SubprocessProviderFactory()).call(arguments);
  }

  private static HttpCalls calls(LiveServer server) {
    return new HttpCalls(server.url, LiveServer.KEY);
  }

  /** Also shows that a purge leaves no process of these tests. */
  @AfterEach
  void purge() {
    CommandResult purged = isola("purge", "--yes", "--set", "floor=process");
    assertThat(purged.code()).as(purged.out() + purged.err()).isZero();
    assertThat(data).doesNotExist();
  }

  private static String snapshot(HttpCalls api, String sandbox) throws Exception {
    return api.call("POST", "/api/v1/sandboxes/" + sandbox + "/snapshots", "{}").text("id");
  }

  @Test
  void backupUnderTrafficIsRestoredAfterTheDataIsGone() throws Exception {
    String sandbox;
    String snapshot;
    String key;
    try (LiveServer server = LiveServer.start(data)) {
      HttpCalls api = calls(server);
      key = api.call("POST", "/api/v1/keys", "{\"name\":\"ci\",\"scope\":\"use\"}").text("key");
      api.call("PUT", "/api/v1/secrets/github", SECRET);
      sandbox = api.create("{\"secretEnv\":{\"TOKEN\":\"hidden\"},\"tags\":{\"team\":\"blue\"}}");
      assertThat(api.exec(sandbox, "echo kept > file; cat file")).isEqualTo("kept\n");
      snapshot = snapshot(api, sandbox);
      AtomicBoolean stop = new AtomicBoolean();
      AtomicInteger created = new AtomicInteger();
      Thread traffic = Thread.ofPlatform().start(() -> produceTraffic(api, sandbox, stop, created));
      try {
        awaitAtLeast(created, 2);
        CommandResult backup = isola("backup", archive.toString());
        assertThat(backup.code()).as(backup.err()).isZero();
        assertThat(backup.out()).contains("the ledger with its API keys", "snapshots: ");
        awaitAtLeast(created, created.get() + 1);
      } finally {
        stop.set(true);
        traffic.join();
      }
    }
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(archive)))
        .isEqualTo("rw-------");
    assertThat(data.toFile().list()).noneMatch(name -> name.contains(".backup-"));
    purge();

    CommandResult restored = isola("restore", archive.toString());
    assertThat(restored.code()).as(restored.err()).isZero();
    assertThat(restored.out()).startsWith("restored the backup of 20");
    try (LiveServer server = LiveServer.start(data)) {
      HttpCalls api = new HttpCalls(server.url, key);
      assertThat(api.call("GET", "/api/v1/sandboxes/" + sandbox, "").toString())
          .as("the record of a sandbox that no longer exists")
          .contains("blue", "lost", "destroyed");
      assertThat(api.call("GET", "/api/v1/secrets/github", "").toString())
          .as("a secret that the restored key decrypts")
          .contains("api.example.com");
      String again = api.create("{\"image\":\"snapshot:" + snapshot + "\"}");
      assertThat(api.exec(again, "cat file")).isEqualTo("kept\n");
      api.call("DELETE", "/api/v1/sandboxes/" + again, "");
    }
  }

  private static void produceTraffic(
      HttpCalls api, String sandbox, AtomicBoolean stop, AtomicInteger created) {
    try {
      while (!stop.get()) {
        String id = api.create("{}");
        api.exec(sandbox, "head -c 100000 /dev/urandom > noise");
        String snapshot = snapshot(api, sandbox);
        api.call("DELETE", "/api/v1/sandboxes/" + id, "");
        api.call("DELETE", "/api/v1/snapshots/" + snapshot, "");
        created.incrementAndGet();
      }
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static void awaitAtLeast(AtomicInteger value, int least) {
    await("traffic").atMost(Duration.ofMinutes(1)).until(() -> value.get() >= least);
  }

  @Test
  void restoredLedgerKeepsSandboxesThatAreNewerThanTheBackup() throws Exception {
    String old;
    String newer;
    try (LiveServer server = LiveServer.start(data)) {
      HttpCalls api = calls(server);
      old = api.create("{}");
      assertThat(isola("backup", archive.toString()).code()).isZero();
      newer = api.create("{}");
    }
    CommandResult refused = isola("restore", archive.toString());
    assertThat(refused.code()).isEqualTo(125);
    assertThat(refused.err()).contains("there is already a ledger", "--replace");
    assertThat(isola("restore", "--replace", archive.toString()).code()).isZero();
    assertThat(data.resolve("ledger").toFile().list())
        .anyMatch(name -> name.contains("ledger.db.before-restore-"));
    try (LiveServer server = LiveServer.start(data)) {
      HttpCalls api = calls(server);
      assertThat(api.exec(old, "echo on")).isEqualTo("on\n");
      assertThat(api.send("GET", "/api/v1/sandboxes/" + newer, "").statusCode()).isEqualTo(404);
      assertThat(server.log()).contains("sandbox " + newer).contains("after the backup");
    }
    assertThat(data.resolve("subprocess/sandboxes").resolve(newer)).exists();
    assertThat(isola("restore", "--destroy-unrecorded").code()).isZero();
    try (LiveServer server = LiveServer.start(data)) {
      assertThat(calls(server).exec(old, "echo on")).isEqualTo("on\n");
    }
    assertThat(data.resolve("subprocess/sandboxes").resolve(newer)).doesNotExist();
  }

  @Test
  void purgeOfARestoredCopyLeavesTheOriginal() throws Exception {
    Path trial = folder.resolve("trial");
    CommandLineFixture copy = new CommandLineFixture(trial, new SubprocessProviderFactory());
    try (LiveServer server = LiveServer.start(data)) {
      String sandbox = calls(server).create("{}");
      assertThat(isola("backup", archive.toString()).code()).isZero();
      CommandResult restored = copy.call("restore", archive.toString());
      assertThat(restored.code()).as(restored.err()).isZero();
      String id = Files.readString(trial.resolve("instance")).strip();
      assertThat(restored.out()).contains("as a copy, installation " + id);
      assertThat(id).isNotEqualTo(Files.readString(data.resolve("instance")).strip());
      try (LiveServer second = LiveServer.start(trial)) {
        assertThat(calls(second).call("GET", "/api/v1/sandboxes/" + sandbox, "").toString())
            .as("the record of a sandbox that is not the copy's")
            .contains("lost");
      }
      CommandResult purged = copy.call("purge", "--yes", "--set", "floor=process");
      assertThat(purged.code()).as(purged.out() + purged.err()).isZero();
      assertThat(trial).doesNotExist();
      assertThat(calls(server).exec(sandbox, "echo on")).isEqualTo("on\n");
    }
  }

  @Test
  void replacementOfAnInstallationThatLivesIsRefused() throws Exception {
    try (LiveServer server = LiveServer.start(data)) {
      assertThat(calls(server).create("{}")).isNotEmpty();
      assertThat(isola("backup", archive.toString()).code()).isZero();
    }
    // Any process with a claim: another command of this installation, in whatever folder.
    Process user =
        new ProcessBuilder("sleep", "600").redirectInput(data.resolve("instance").toFile()).start();
    Path elsewhere = folder.resolve("elsewhere");
    CommandLineFixture other = new CommandLineFixture(elsewhere, new SubprocessProviderFactory());
    try {
      CommandResult refused = other.call("restore", "--replace", archive.toString());
      assertThat(refused.code()).isEqualTo(125);
      assertThat(refused.err()).contains("process " + user.pid(), "nothing was changed");
      assertThat(elsewhere.resolve("instance")).doesNotExist();
    } finally {
      user.destroyForcibly().waitFor();
    }
    assertThat(isola("restore", archive.toString()).err()).contains("already a ledger");
    CommandResult moved = other.call("restore", "--replace", archive.toString());
    assertThat(moved.code()).as(moved.err()).isZero();
    assertThat(elsewhere.resolve("instance")).hasSameTextualContentAs(data.resolve("instance"));
  }

  @Test
  void copyDoesNotShareTheSnapshotsOfTheOriginal() throws Exception {
    String place = "snapshots.place=" + folder.resolve("snapshots");
    try (LiveServer server =
        LiveServer.start(data, new SubprocessProviderFactory(), "floor=process", place)) {
      assertThat(calls(server).create("{}")).isNotEmpty();
    }
    assertThat(isola("backup", archive.toString(), "--set", place).code()).isZero();
    CommandLineFixture copy =
        new CommandLineFixture(folder.resolve("copy"), new SubprocessProviderFactory());
    assertThat(copy.call("restore", archive.toString(), "--set", place).err())
        .contains("would share the snapshots", "nothing was changed");
    CommandResult own =
        copy.call(
            "restore",
            archive.toString(),
            "--set",
            "snapshots.place=" + folder.resolve("own-snapshots"));
    assertThat(own.code()).as(own.err()).isZero();
  }

  @Test
  void backupWithoutALedgerIsRefused() throws Exception {
    Files.createDirectories(data);
    Files.writeString(data.resolve("instance"), "testnoledger1\n");
    CommandResult refused = isola("backup", archive.toString());
    assertThat(refused.code()).isEqualTo(125);
    assertThat(refused.err())
        .contains("there is no ledger in " + data.resolve("ledger"), "--data", "store.url");
    assertThat(archive).doesNotExist();
  }

  @Test
  void restoreRefusesWhatItCannotRestore() throws Exception {
    assertThat(isola("backup", archive.toString()).err())
        .contains("there is no installation in " + data);
    try (LiveServer server = LiveServer.start(data)) {
      assertThat(isola("backup", archive.toString()).code()).isZero();
      assertThat(isola("backup", archive.toString()).err()).contains("already exists");
      assertThat(isola("restore", "--replace", archive.toString()).err())
          .contains("pid " + ProcessHandle.current().pid(), "nothing was changed");
      assertThat(calls(server).create("{}")).isNotEmpty();
    }
    Path other = folder.resolve("other");
    CommandLineFixture elsewhere = new CommandLineFixture(other, new SubprocessProviderFactory());
    try (LiveServer server = LiveServer.start(other)) {
      assertThat(calls(server).url()).isNotEmpty();
    }
    assertThat(elsewhere.call("restore", "--replace", archive.toString()).err())
        .contains("belongs to installation");
    Path damaged = Files.writeString(folder.resolve("damaged.tar"), "not an archive");
    assertThat(isola("restore", "--replace", damaged.toString()).err()).contains("cannot be read");
    assertThat(isola("restore", "missing.tar").err()).contains("missing.tar", "cannot be read");
    assertThat(isola("restore").code()).isEqualTo(2);
    assertThat(data.toFile().list()).noneMatch(name -> name.contains(".restore-"));
  }
}
