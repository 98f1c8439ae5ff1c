package dev.isola.app.purge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.HttpCalls;
import dev.isola.app.LiveServer;
import dev.isola.app.SmallImage;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.conformance.leak.LeakDetector;
import dev.isola.conformance.leak.TrackedResource;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.spi.InstanceId;
import dev.isola.testing.program.IsolaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code isola purge} with real sandboxes, next to a second installation that must stay. */
@Timeout(180)
class PurgeTest {
  @TempDir Path folder;
  private Path data;
  private Path otherData;
  private LiveServer other;
  private String bystander;

  @BeforeEach
  void startOther() throws Exception {
    Assumptions.assumeTrue(
        Files.exists(Path.of("/usr/bin/bwrap")), "NOT RUN: bubblewrap is not installed");
    data = folder.resolve("data");
    otherData = folder.resolve("data2");
    other = LiveServer.start(otherData, new BubblewrapProviderFactory());
    bystander = calls(other).create("{\"ttlSeconds\":600}");
  }

  @AfterEach
  void bystanderStays() throws Exception {
    if (other != null) {
      assertThat(calls(other).exec(bystander, "echo on")).isEqualTo("on\n");
      calls(other).call("DELETE", "/api/v1/sandboxes/" + bystander, "");
      other.close();
    }
  }

  private static HttpCalls calls(LiveServer server) {
    return new HttpCalls(server.url, LiveServer.KEY);
  }

  private CommandLineFixture isola() {
    return new CommandLineFixture(data, new BubblewrapProviderFactory());
  }

  private static InstanceId instance(Path data) throws IOException {
    return new InstanceId(Files.readString(data.resolve("instance")).strip());
  }

  /** Returns the processes, control groups, mounts and others that are left of an installation. */
  private List<String> left(InstanceId instance) {
    return new LeakDetector(instance, data)
        .scan().resources().stream()
            .filter(one -> one.kind() != TrackedResource.Kind.DESCRIPTOR)
            .map(TrackedResource::description)
            .toList();
  }

  /** Returns what the machine records about the user ids of sandboxes, where it does. */
  private static List<String> userIds(String text) throws IOException {
    Path registry = Path.of("/var/lib/isola-users");
    List<String> found = new ArrayList<>();
    if (Files.isReadable(registry)) {
      try (DirectoryStream<Path> claims = Files.newDirectoryStream(registry, "[0-9]*")) {
        for (Path claim : claims) {
          String content = Files.readString(claim);
          if (content.contains(text)) {
            found.add(content);
          }
        }
      }
    }
    return found;
  }

  /** Starts a server on {@link #data} and leaves a sandbox running that a client uses. */
  private InstanceId leaveSandbox() throws Exception {
    try (LiveServer server = LiveServer.start(data, new BubblewrapProviderFactory())) {
      String id = calls(server).create("{\"ttlSeconds\":600}");
      calls(server)
          .call(
              "POST",
              "/api/v1/sandboxes/" + id + "/executions",
              "{\"command\":\"env -i sleep 600\"}");
    }
    assertThat(left(instance(data))).as("a sandbox that runs").isNotEmpty();
    return instance(data);
  }

  @Test
  void killedServerAndRemovedFolderLeaveNothingAfterThePurge() throws Exception {
    Process server = startServer();
    String url;
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      url = out.readLine().substring("Isola listening on ".length());
      HttpCalls api = new HttpCalls(url, LiveServer.KEY);
      String id = api.create("{\"ttlSeconds\":600}");
      api.call(
          "POST", "/api/v1/sandboxes/" + id + "/executions", "{\"command\":\"env -i sleep 600\"}");
      InstanceId instance = instance(data);

      CommandResult refused = isola().call("purge", "--yes");
      assertThat(refused.code()).isEqualTo(125);
      assertThat(refused.err()).contains("process " + server.pid(), "nothing was removed");

      server.destroyForcibly().waitFor();
      assertThat(new ProcessBuilder("rm", "-rf", data.toString()).start().waitFor()).isZero();
      assertThat(data).doesNotExist();
      assertThat(left(instance)).as("the sandbox runs on").isNotEmpty();

      CommandResult unnamed = isola().call("purge", "--yes");
      assertThat(unnamed.code()).isZero();
      assertThat(unnamed.out())
          .contains("nothing is left of the installation in " + data, "other installations")
          .containsPattern(instance + ": \\d+ sandbox");
      assertThat(left(instance)).as("a path is no evidence").isNotEmpty();

      CommandResult listed = isola().call("purge", "--dry-run", "--instance", instance.value());
      assertThat(listed.out())
          // The killed server may leave sandboxes of its health checks, too.
          .containsPattern("sandboxes without records, of installation " + instance + ": .*" + id)
          .contains("other installations");
      assertThat(left(instance)).as("a dry run removes nothing").isNotEmpty();

      CommandResult purged = isola().call("purge", "--yes", "--instance", instance.value());
      assertThat(purged.code()).as(purged.out() + purged.err()).isZero();
      assertThat(left(instance)).isEmpty();
      assertThat(data).doesNotExist();
      assertThat(isola().call("purge", "--dry-run").out()).contains("nothing is left");
    } finally {
      server.destroyForcibly().waitFor();
    }
  }

  private Process startServer() throws IOException {
    List<String> words = new ArrayList<>(List.of("serve", "--port", "0"));
    words.addAll(IsolaCommand.onlyProviders("bubblewrap"));
    return startIsola(folder.resolve("err"), words.toArray(String[]::new));
  }

  /** Starts the command in a process of its own, which can be killed. */
  private Process startIsola(Path err, String... words) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(IsolaCommand.of(words)).redirectError(err.toFile());
    Map<String, String> env = builder.environment();
    env.put("ISOLA_API_KEY", LiveServer.KEY);
    env.put("ISOLA_DATA", data.toString());
    env.put("ISOLA_PROVIDER", "bubblewrap");
    env.put("XDG_CONFIG_HOME", folder.resolve("config").toString()); // no login
    return builder.start();
  }

  @Test
  void killedImageBuildLeavesNothingAfterThePurge() throws Exception {
    SmallImage.addTo(data, folder);
    Path dockerfile =
        Files.writeString(
            folder.resolve("Dockerfile"), "FROM small\nRUN echo step-runs; sleep 600\n");
    Path err = folder.resolve("err");
    Process build = startIsola(err, "image", "build", "-v", "slow", "-f", dockerfile.toString());
    try {
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> Files.readString(err).contains("   step-runs") || !build.isAlive());
      assertThat(build.isAlive()).as(Files.readString(err)).isTrue();
      InstanceId builds = instance(data.resolve("builds"));

      CommandResult refused = isola().call("purge", "--yes");
      assertThat(refused.code()).as(refused.out()).isEqualTo(125);
      assertThat(refused.err()).contains("process " + build.pid(), "nothing was removed");

      build.destroyForcibly().waitFor();
      assertThat(left(builds)).as("the step runs on").isNotEmpty();
      assertThat(isola().call("purge", "--dry-run").out()).contains("sandboxes of bubblewrap: ");

      CommandResult purged = isola().call("purge", "--yes");
      assertThat(purged.code()).as(purged.out() + purged.err()).isZero();
      assertThat(left(builds)).isEmpty();
      assertThat(data).doesNotExist();
    } finally {
      build.destroyForcibly().waitFor();
    }
  }

  @Test
  void purgeOfADataFolderRemovesEverythingButFilesOfOthers() throws Exception {
    InstanceId instance = leaveSandbox();
    Path foreign = Files.writeString(data.resolve("notes.txt"), "mine");
    String ofOwn = instance + " ";
    String ofOther = instance(otherData) + " " + otherData;
    boolean ranges = SandboxUserIds.rangesAvailable();
    assertThat(userIds(ofOwn).isEmpty()).as("no ids were allocated").isNotEqualTo(ranges);
    CommandResult purged = isola().call("purge", "--yes");
    assertThat(purged.code()).as(purged.out() + purged.err()).isZero();
    assertThat(purged.out()).contains("sandboxes of bubblewrap: ", "not created by Isola: notes");
    try (var entries = Files.list(data)) {
      assertThat(entries).containsExactly(foreign);
    }
    assertThat(left(instance)).isEmpty();
    assertThat(userIds(ofOwn)).isEmpty();
    if (ranges) {
      assertThat(userIds(ofOther)).anyMatch(claim -> claim.endsWith("/" + bystander));
    }
  }

  @Test
  void purgeAsksAndRemovesNothingWithoutAYes() throws Exception {
    InstanceId instance = leaveSandbox();
    CommandResult unattended = isola().call("purge");
    assertThat(unattended.code()).isEqualTo(2);
    assertThat(unattended.err()).contains("--yes");
    CommandLineFixture terminal = isola().stdin("no\n");
    terminal.interactive = new CliEnvironment.TtyStatus(true, true, true);
    CommandResult declined = terminal.call("purge");
    assertThat(declined.code()).isEqualTo(1);
    assertThat(declined.out()).contains("Remove all of this?");
    assertThat(declined.err()).contains("nothing was removed");
    assertThat(left(instance)).isNotEmpty();
    terminal.stdin("y\n");
    assertThat(terminal.call("purge").code()).isZero();
    assertThat(data).doesNotExist();
    assertThat(left(instance)).isEmpty();
  }

  @Test
  void installationWithALiveProcessIsNotPurgedWhateverThePathOfItsFolder() throws Exception {
    Process server = startServer();
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      String url = out.readLine().substring("Isola listening on ".length());
      HttpCalls api = new HttpCalls(url, LiveServer.KEY);
      String id = api.create("{\"ttlSeconds\":600}");
      InstanceId instance = instance(data);
      Path elsewhere = Files.createDirectories(folder.resolve("elsewhere"));
      CommandLineFixture operator =
          new CommandLineFixture(elsewhere, new BubblewrapProviderFactory());
      CommandResult named = operator.call("purge", "--yes", "--instance", instance.value());
      assertThat(named.code()).isEqualTo(125);
      assertThat(named.err()).contains("process " + server.pid(), "nothing was removed");

      // A copy by other means than isola backup has the same id, and no lock that a server holds.
      Files.copy(data.resolve("instance"), elsewhere.resolve("instance"));
      CommandResult copied = operator.call("purge", "--yes");
      assertThat(copied.code()).isEqualTo(125);
      assertThat(copied.err()).contains("process " + server.pid(), instance.value());

      assertThat(api.exec(id, "echo on")).isEqualTo("on\n");
    } finally {
      server.destroy();
      server.waitFor();
    }
    CommandResult purged = isola().call("purge", "--yes");
    assertThat(purged.code()).as(purged.out() + purged.err()).isZero();
  }

  @Test
  void filesWithNamesThatBeginLikeThoseOfIsolaStay() throws Exception {
    InstanceId _ = leaveSandbox();
    Set<String> foreign =
        Set.of("secrets-of-mine.txt", "audit.jsonl.gz", "instance.txt", ".backup-notes");
    for (String name : foreign) {
      Files.writeString(data.resolve(name), "mine");
    }
    Files.createDirectories(data.resolve("mine/bin"));
    Files.createDirectories(data.resolve("mine/sandboxes"));
    CommandResult purged = isola().call("purge", "--yes");
    assertThat(purged.code()).as(purged.out() + purged.err()).isZero();
    try (var entries = Files.list(data)) {
      assertThat(entries.map(one -> one.getFileName().toString()))
          .containsAll(foreign)
          .contains("mine")
          .hasSize(foreign.size() + 1);
    }
  }

  @Test
  void folderThatIsNotADataFolderIsNotTouched() throws Exception {
    Files.createDirectories(data.resolve("ledger"));
    Path file = Files.writeString(data.resolve("ledger/accounts.txt"), "mine");
    CommandResult purged = isola().call("purge", "--yes");
    assertThat(purged.code()).as(purged.err()).isZero();
    assertThat(purged.out()).contains("nothing is left of the installation in " + data);
    assertThat(file).exists();
  }
}
