package dev.isola.app.remote;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.LiveServer;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.ExitCodes;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A1: the commands that call a server, against a real one. */
@Timeout(180)
class RemoteCommandsTest {
  private static final Duration SOON = Duration.ofSeconds(60);

  @TempDir static Path data;
  private static LiveServer server;

  @TempDir Path folder;
  private String id;

  @BeforeAll
  static void start() {
    server = LiveServer.start(data);
  }

  @AfterAll
  static void end() {
    server.close();
  }

  @BeforeEach
  void make() {
    CommandResult made = isola("create", "--tag", "who=me", "--ttl", "10m", "--env", "A=b");
    assertThat(made.err()).isEmpty();
    assertThat(made.out()).matches("[a-z0-9]{1,32}\n");
    id = made.out().strip();
  }

  @AfterEach
  void destroy() {
    assertThat(isola("rm", "--force", id).code()).isZero();
    assertThat(isola("ls", "-q").out()).isEmpty();
  }

  private CommandLineFixture fixture() {
    CommandLineFixture fixture = new CommandLineFixture(folder.resolve("data"));
    fixture.env.put("XDG_CONFIG_HOME", folder.resolve("config").toString());
    fixture.env.put("ISOLA_URL", server.url);
    fixture.env.put("ISOLA_API_KEY", LiveServer.KEY);
    return fixture;
  }

  private CommandResult isola(String... args) {
    return fixture().call(args);
  }

  private CommandResult exec(String... words) {
    return isola(
        Stream.concat(Stream.of("exec", id, "--"), Stream.of(words)).toArray(String[]::new));
  }

  @Test
  void listsSandboxes() {
    assertThat(isola("ls").out()).contains("ID", "STATE", id, "running", "subprocess", "who=me");
    assertThat(isola("ls", "-q", "--tag", "who=me").out()).isEqualTo(id + "\n");
    assertThat(isola("ls", "--tag", "who=you").out())
        .isEqualTo("no sandboxes; create one with isola create\n");
    assertThat(isola("ls", "--json").out()).startsWith("{\"sandboxes\":[{\"id\":\"" + id + "\"");
    CommandResult wrong = isola("ls", "--state", "asleep");
    assertThat(wrong.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(wrong.err()).startsWith("isola: ").contains("state").hasLineCount(1);
  }

  @Test
  void createsDiffsRestoresAndForksSnapshots() {
    assertThat(exec("sh", "-c", "echo one > one; echo two > two").code()).isZero();
    String first = isola("snapshot", "create", id, "--tag", "a=b").out().strip();
    assertThat(first).matches("s[0-9a-f]{16}");
    assertThat(exec("sh", "-c", "echo more >> one; rm two; echo x > new; echo o > left.o").code())
        .isZero();
    CommandResult json = isola("snapshot", "create", id, "--exclude", "*.o", "--json");
    assertThat(json.out()).contains("\"heldMs\":", "\"checksum\":", "\"exclude\":[\"*.o\"]");
    String second = json.out().replaceFirst("(?s).*?\"id\":\"([^\"]+)\".*", "$1");
    assertThat(isola("snapshot", "ls").out()).contains(first, second, "SANDBOX", id);
    assertThat(isola("snapshot", "show", first).out())
        .contains("architecture", "a=b")
        .doesNotContain("{a=b}");
    assertThat(isola("snapshot", "diff", first, second).out()).isEqualTo("+ new\n* one\n- two\n");
    CommandResult restored = isola("snapshot", "restore", first, "--memory", "200", "--ttl", "10m");
    assertThat(restored.err()).isEmpty();
    String other = restored.out().strip();
    assertThat(isola("cp", other + ":two", "-").out()).isEqualTo("two\n");
    String[] forks = isola("fork", id, "-n", "2").out().strip().split("\n");
    assertThat(forks).hasSize(2);
    assertThat(isola("cp", forks[1] + ":new", "-").out()).isEqualTo("x\n");
    CommandResult forked = isola("fork", id, "--kind", "filesystem", "--json");
    assertThat(forked.out()).contains("\"kind\":\"filesystem\"", "\"by\":\"restore\"");
    String third = forked.out().replaceFirst("(?s).*?\"id\":\"([^\"]+)\".*", "$1");
    assertThat(isola("rm", "--force", other, forks[0], forks[1], third).code()).isZero();
    assertThat(isola("snapshot", "rm", first, second).out())
        .isEqualTo(first + "\n" + second + "\n");
    assertThat(isola("snapshot", "gc").out()).contains("freed");
    assertThat(isola("snapshot", "show", first).err()).contains("no such snapshot: " + first);
  }

  @Test
  void rejectsMemoryForksWithARemedy() {
    CommandResult refused = isola("fork", id, "-n", "2", "--kind", "memory");
    assertThat(refused.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(refused.out()).isEmpty();
    assertThat(refused.err())
        .startsWith("isola: the memory of sandbox " + id + " cannot be forked")
        .contains("provider subprocess", "request kind filesystem");
    CommandResult wrong = isola("fork", id, "--kind", "soul");
    assertThat(wrong.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(wrong.err()).contains("kind", "must be one of filesystem, memory");
    assertThat(isola("ls", "-q").out()).isEqualTo(id + "\n");
  }

  @Test
  void createsASandboxFromASpecFile() throws IOException {
    Path spec = folder.resolve("spec.json");
    Files.writeString(spec, "{\"tags\": {\"from\": \"file\"}, \"seedFiles\": {\"note\": \"hi\"}}");
    String other = isola("create", "--spec", spec.toString(), "--tag", "more=1").out().strip();
    assertThat(isola("ls", "-q", "--tag", "from=file", "--tag", "more=1").out())
        .isEqualTo(other + "\n");
    assertThat(isola("cp", other + ":note", "-").out()).isEqualTo("hi");
    assertThat(isola("rm", other, "nothere").code()).isEqualTo(ExitCodes.NOT_RUN);
    Files.writeString(spec, "nonsense");
    assertThat(isola("create", "--spec", spec.toString()).err()).contains("not a JSON object");
  }

  @Test
  void execExitsWithTheCodeOfTheCommand() {
    CommandResult called = exec("sh", "-c", "echo out $A; echo err >&2; exit 3");
    assertThat(called.out()).isEqualTo("out b\n");
    assertThat(called.err()).isEqualTo("err\n");
    assertThat(called.code()).isEqualTo(3);
    assertThat(isola("exec", id, "printf", "%s|", "-l", "a b").out()).isEqualTo("-l|a b|");
    assertThat(fixture().stdin("input").call("exec", id, "cat").out()).isEqualTo("input");
    assertThat(exec("nosuch").code()).isEqualTo(ExitCodes.NOT_FOUND);
    CommandResult late = isola("exec", "--timeout", "200ms", id, "sleep", "60");
    assertThat(late.code()).isEqualTo(ExitCodes.TIMEOUT);
    assertThat(late.err()).contains("timed out");
  }

  @Test
  void execPrintsJson() {
    CommandResult called = isola("--json", "exec", id, "sh", "-c", "echo out; kill -9 $$");
    assertThat(called.out())
        .contains("\"sandbox\":\"" + id + "\"", "\"exitCode\":137", "\"stdout\":\"out\\n\"")
        .contains("\"exit\":{\"kind\":\"signaled\",\"signal\":\"SIGKILL\",\"number\":9}");
    assertThat(called.code()).isEqualTo(137);
  }

  @Test
  void execKillsTheCommandWhenStdoutIsClosed() {
    CommandLineFixture broken = fixture();
    broken.outIsBroken = true;
    broken.brokenOut =
        new java.io.OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    assertThat(broken.call("exec", id, "yes").code()).isEqualTo(ExitCodes.OUTPUT_CLOSED);
    assertThat(isola("logs", id).out()).contains("yes");
    await().atMost(SOON).until(() -> !isola("logs", id).out().contains("running"));
  }

  @Test
  void detachedCommandIsPrintedByLogs() {
    String execution = isola("exec", "-d", id, "sh", "-c", "echo one; echo two >&2").out().strip();
    CommandResult followed = isola("logs", "-f", id, execution);
    assertThat(followed.out()).isEqualTo("one\n");
    assertThat(followed.err()).isEqualTo("two\n");
    assertThat(isola("logs", id, execution).out()).isEqualTo("one\n");
    assertThat(isola("logs", "--offset", "2", id, execution).out()).isEqualTo("e\n");
    assertThat(isola("logs", id).out()).contains("EXEC", execution, "exited with 0", "echo one");
    assertThat(isola("logs", id, "999").err()).contains("run isola logs ID to list executions");
  }

  @Test
  void copiesFilesAndFoldersInBothDirections() throws IOException {
    Path file = folder.resolve("file");
    Files.writeString(file, "content");
    assertThat(isola("cp", file.toString(), id + ":a/").code()).isZero();
    assertThat(isola("cp", id + ":a/file", "-").out()).isEqualTo("content");
    assertThat(fixture().stdin("typed").call("cp", "-", id + ":b").code()).isZero();
    assertThat(isola("cp", id + ":b", folder.toString()).code()).isZero();
    assertThat(folder.resolve("b")).hasContent("typed");

    Path tree = Files.createDirectories(folder.resolve("tree/sub"));
    Files.writeString(tree.resolve("deep"), "deep");
    assertThat(isola("cp", folder.resolve("tree").toString(), id + ":").code()).isZero();
    assertThat(exec("cat", "tree/sub/deep").out()).isEqualTo("deep");
    assertThat(isola("cp", id + ":tree", folder.resolve("back").toString()).code()).isZero();
    assertThat(folder.resolve("back/sub/deep")).hasContent("deep");
    assertThat(isola("cp", id + ":tree", folder.resolve("back").toString()).code()).isZero();
    assertThat(folder.resolve("back/tree/sub/deep")).hasContent("deep");
    CommandResult json = isola("cp", "--json", id + ":b", folder.resolve("c").toString());
    assertThat(json.out()).endsWith("\"bytes\":5}\n");
  }

  @Test
  void reportsCopyErrors() {
    assertThat(isola("cp", "a", "b").code()).isEqualTo(ExitCodes.USAGE);
    assertThat(isola("cp", id + ":a", id + ":b").code()).isEqualTo(ExitCodes.USAGE);
    assertThat(isola("cp", folder.resolve("nothing").toString(), id + ":a").err())
        .contains("no such file or folder", "nothing");
    CommandResult missing = isola("cp", id + ":nothing", "-");
    assertThat(missing.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(missing.err()).contains("no such file: nothing");
  }

  @Test
  void showsProgressOnlyOnATerminal() throws IOException {
    Path file = folder.resolve("file");
    Files.write(file, new byte[1 << 20]);
    CommandLineFixture quiet = fixture();
    assertThat(quiet.call("cp", file.toString(), id + ":f").err()).isEmpty();
    CommandLineFixture watched = fixture();
    watched.interactive = new CliEnvironment.TtyStatus(false, false, true);
    assertThat(watched.call("cp", file.toString(), id + ":f").err()).contains("100%", "1.0 MB");
    assertThat(watched.call("cp", "-q", file.toString(), id + ":f").err()).isEmpty();
  }

  @Test
  void streamsEvents() {
    CommandResult all = isola("events", "--after", "0", "--sandbox", id, "--count", "2");
    assertThat(all.out().lines()).hasSize(2);
    assertThat(all.out()).contains("spawn", "ready", id);
    assertThat(isola("--json", "events", "--after", "0", "--sandbox", id, "--count", "1").out())
        .startsWith("{\"number\":");
  }

  @Test
  void topPrintsUsage() {
    assertThat(isola("top").out()).contains("CPU%", id);
    assertThat(isola("top", "--json").out())
        .contains("\"sandbox\":\"" + id + "\"", "\"memoryBytes\"");
  }

  @Test
  void managesKeysAndPorts() {
    CommandResult made = isola("keys", "create", "ci", "--scope", "read");
    assertThat(made.out()).matches("isk_[0-9a-f]+\n");
    assertThat(isola("keys", "ls").out()).contains("ci", "read", "never");
    CommandLineFixture reader = fixture();
    reader.env.put("ISOLA_API_KEY", made.out().strip());
    assertThat(reader.call("ls", "-q").code()).isZero();
    assertThat(reader.call("rm", id).err()).contains("scope use");
    CommandResult e2bForm = isola("keys", "create", "e2b", "--scope", "use", "--e2b");
    assertThat(e2bForm.out()).as("E2B's SDKs accept only this form").matches("e2b_[0-9a-f]{64}\n");
    CommandLineFixture user = fixture();
    for (String prefix : List.of("e2b_", "isk_")) {
      user.env.put("ISOLA_API_KEY", e2bForm.out().strip().replaceFirst("^e2b_", prefix));
      assertThat(user.call("ls", "-q").code()).as(prefix).isZero();
    }
    for (String strict : List.of("true", "false")) {
      assertThat(isola("keys", "update", "ci", "--strict-no-fallback=" + strict).code()).isZero();
      assertThat(isola("keys", "ls", "--json").out().contains("\"strictNoFallback\":true"))
          .isEqualTo(strict.equals("true"));
    }
    assertThat(isola("keys", "rm", "ci", "e2b").code()).isZero();
    assertThat(user.call("ls").code()).isNotZero();
    assertThat(reader.call("ls").err()).contains("isola login URL");

    assertThat(isola("ports", id).out()).contains("no public ports");
    assertThat(isola("ports", id, "8000", "--public").code()).isZero();
    assertThat(isola("ports", id).out()).contains("8000", "public");
    assertThat(isola("ports", id, "--link").code()).isEqualTo(ExitCodes.USAGE);
    assertThat(isola("ports", id, "8000", "--private", "--link", "--ttl", "1m").out())
        .startsWith("http://8000-" + id);
  }

  @Test
  void managesSecretsWithoutPrintingThem() throws IOException {
    String value = "ghp_planted5Value6With7Enough8Room9";
    CommandLineFixture typed = fixture();
    typed.in = new ByteArrayInputStream((value + "\n").getBytes(UTF_8));
    CommandResult stored =
        typed.call(
            "secrets", "set", "github", "--host", "api.example.com", "--host", "*.example.org");
    assertThat(stored.out()).isEqualTo("github: sent to api.example.com, *.example.org only\n");
    Path file = Files.writeString(folder.resolve("value"), value + "2");
    assertThat(
            isola(
                    "secrets",
                    "set",
                    "file",
                    "--host",
                    "a.example.com",
                    "--from-file",
                    file.toString())
                .code())
        .isZero();
    CommandLineFixture inherited = fixture();
    inherited.env.put("PLANTED", value + "3");
    assertThat(
            inherited
                .call(
                    "secrets",
                    "set",
                    "env",
                    "--host",
                    "a.example.com",
                    "--key",
                    "ci",
                    "--from-env",
                    "PLANTED")
                .code())
        .isZero();
    String listed = isola("secrets", "ls").out();
    assertThat(listed).contains("github", "file", "env", "api.example.com", "all", "ci");
    String shown = isola("secrets", "show", "github").out();
    assertThat(shown).contains("placeholder", "ghp_");
    String json =
        isola("secrets", "ls", "--json").out() + isola("--json", "secrets", "show", "env").out();
    assertThat(listed + shown + json + stored.out()).doesNotContain(value);
    assertThat(isola("secrets", "rotate-key").out())
        .matches("key [0-9a-f]{16}: 3 values encrypted again\n");
    assertThat(
            isola("secrets", "set", "x", "--host", "h.example.com", "--from-env", "ABSENT").code())
        .isEqualTo(ExitCodes.USAGE);
    assertThat(isola("secrets", "set", "x").code()).isEqualTo(ExitCodes.USAGE);
    assertThat(isola("create", "--secret", "TOKEN=absent").err())
        .contains("no secret named absent");
    assertThat(isola("secrets", "rm", "github", "file", "env").code()).isZero();
    assertThat(isola("secrets", "ls").out()).startsWith("no secrets");
    assertThat(isola("secrets", "rm", "github").err()).contains("no secret named github");
  }

  @Test
  void pausesAndResumesOrReportsWhyNot() {
    CommandResult paused = isola("pause", id);
    if (paused.code() == 0) {
      assertThat(isola("ls", "--state", "paused", "-q").out()).isEqualTo(id + "\n");
      assertThat(isola("resume", id).code()).isZero();
    } else {
      assertThat(paused.err()).startsWith("isola: ");
    }
    assertThat(exec("echo", "awake").out()).isEqualTo("awake\n");
  }

  @Test
  void loginLogoutAndContexts() {
    CommandLineFixture person = fixture();
    person.env.remove("ISOLA_URL");
    person.env.remove("ISOLA_API_KEY");
    assertThat(person.call("ls").err()).contains("isola serve", "isola login URL");
    assertThat(person.stdin("isk_wrong\n").call("login", server.url).code())
        .isEqualTo(ExitCodes.NOT_RUN);
    assertThat(person.call("contexts").out()).startsWith("no contexts");
    CommandResult in =
        person.stdin(LiveServer.KEY + "\n").call("login", server.url, "--name", "home");
    assertThat(in.out()).isEqualTo("logged in to " + server.url + " as context home\n");
    assertThat(in.err()).isEmpty();
    assertThat(person.call("ls", "-q").out()).isEqualTo(id + "\n");
    assertThat(person.call("contexts").out()).contains("*", "home", server.url);
    assertThat(person.call("ls", "--context", "other").code()).isEqualTo(ExitCodes.USAGE);
    assertThat(person.call("logout").code()).isZero();
    assertThat(person.call("ls").code()).isEqualTo(ExitCodes.NOT_RUN);
  }

  @Test
  void reportsAnUnreachableServer() {
    CommandResult called = isola("ls", "--server", "http://127.0.0.1:1");
    assertThat(called.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(called.err())
        .startsWith("isola: no server responds at http://127.0.0.1:1")
        .hasLineCount(1);
    assertThat(isola("--json", "ls", "--server", "http://127.0.0.1:1").out())
        .contains("\"code\":\"PROVIDER_UNAVAILABLE\"");
    assertThat(isola("shell", id).err()).contains("needs a terminal");
    assertThat(isola("exec", "../x", "true").code()).isEqualTo(ExitCodes.USAGE);
  }
}
