package dev.isola.app.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.LiveServer;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.ExitCodes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Sandboxes by name and by the beginning of an id, and the commands that act on one of them. */
@Timeout(180)
class SandboxReferencesTest {
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
  void create() {
    CommandResult created =
        isola("create", "--name", "web", "--ttl", "10m", "--tag", "team=red", "--memory", "1.5g");
    assertThat(created.err()).contains("--memory is not enforced"); // subprocess cannot
    id = created.out().strip();
  }

  @AfterEach
  void destroyAll() {
    isola("ls", "-q").out().lines().forEach(one -> isola("rm", "--force", one));
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

  @Test
  void commandsAcceptANameAndTheBeginningOfAnId() {
    for (String reference : new String[] {"web", id, id.substring(0, 8)}) {
      assertThat(isola("exec", reference, "--", "echo", "hi").out()).isEqualTo("hi\n");
      assertThat(isola("inspect", reference).out()).contains(id);
    }
    assertThat(fixture().stdin("text").call("cp", "-", "web:note").code()).isZero();
    assertThat(isola("cp", "web:note", "-").out()).isEqualTo("text");
    assertThat(isola("--json", "exec", "-d", "web", "true").out())
        .contains("\"sandbox\":\"" + id + "\"");
    assertThat(isola("logs", "web").out()).contains("echo hi");
    assertThat(isola("events", "--sandbox", "web", "--after", "0", "--count", "1").out())
        .contains(id);
    assertThat(isola("snapshot", "create", "web").out()).matches("s[0-9a-f]{16}\n");
    assertThat(isola("ls").out()).contains("NAME", "web");
    assertThat(isola("ls", "--json").out()).contains("\"name\":\"web\"");

    CommandResult unknown = isola("exec", "no.such", "true");
    assertThat(unknown.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(unknown.err())
        .isEqualTo(
            "isola: no sandbox has the name or id 'no.such'; run isola ls to list sandboxes\n");
    assertThat(isola("exec", id.substring(0, 2), "true").err()).contains("no sandbox");
    assertThat(isola("exec", "../x", "true").code()).isEqualTo(ExitCodes.USAGE);
  }

  @Test
  void takenNameIsRefusedWithTheIdOfItsSandbox() {
    CommandResult second = isola("create", "--name", "web");
    assertThat(second.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(second.err())
        .isEqualTo(
            "isola: the name 'web' belongs to sandbox "
                + id
                + "; use another name, or destroy that sandbox first\n");
    assertThat(isola("create", "--name", "a b").err()).contains("the name of a sandbox must be");
    assertThat(isola("rm", "web").code()).isZero();
    assertThat(isola("create", "--name", "web").code()).isZero();
  }

  @Test
  void forkHasNoName() {
    String fork = isola("fork", "web").out().strip();
    assertThat(isola("inspect", fork, "--json").out()).doesNotContain("\"name\"");
    assertThat(isola("inspect", "web").out()).contains(id);
  }

  @Test
  void ambiguousReferenceIsRefusedAndRemovesNothing() {
    isola("create", "--id", "abc1", "--name", "one");
    isola("create", "--id", "abc2");
    isola("create", "--id", "xyz");
    CommandResult refused = isola("rm", "xyz", "abc");
    assertThat(refused.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(refused.err())
        .isEqualTo(
            "isola: 'abc' is ambiguous: abc1 (one), abc2; use more characters of the id, or the"
                + " name\n");
    assertThat(isola("ls", "-q").out()).contains("abc1", "abc2", "xyz");

    CommandResult partly = isola("--json", "rm", "one", "no.such", "abc2");
    assertThat(partly.code()).isEqualTo(ExitCodes.NOT_RUN);
    assertThat(isola("ls", "-q").out()).contains("xyz").doesNotContain("abc1", "abc2");
  }

  @Test
  void exactIdPrecedesANameAndANamePrecedesTheBeginningOfAnId() {
    isola("create", "--id", "web5");
    isola("create", "--id", "other1", "--name", "web5");
    assertThat(isola("inspect", "web").out()).contains(id).doesNotContain("web5");
    assertThat(isola("inspect", "web5").out()).contains("id ").doesNotContain("other1");
    assertThat(isola("inspect", "othe").out()).contains("other1", "web5");
  }

  @Test
  void inspectPrintsReadableLines() {
    assertThat(isola("inspect", "web").out())
        .containsPattern("(?m)^id +" + id + "$")
        .containsPattern("(?m)^name +web$")
        .containsPattern("(?m)^state +running$")
        .containsPattern("(?m)^provider +subprocess$")
        .containsPattern("(?m)^tags +team=red$")
        .containsPattern("(?m)^expires +20.*\\(in (9m|10m|[0-9]+s)\\)$")
        .containsPattern("(?m)^memory +1.5 GB$");
    assertThat(isola("inspect", "web", "--json").out())
        .startsWith("{\"id\":\"" + id + "\",\"name\":\"web\",")
        .contains("\"spec\":{");
  }

  @Test
  void renewSetsTheExpiry() {
    assertThat(isola("renew", "web", "3h").out()).startsWith(id + " expires in 3h, at 20");
    assertThat(isola("ls").out()).containsPattern("in (2|3)h");
    CommandResult wrong = isola("renew", "web", "later");
    assertThat(wrong.code()).isEqualTo(ExitCodes.USAGE);
    assertThat(wrong.err()).contains("TIME 'later' is not a duration", "30s");
  }

  @Test
  void killEndsOneExecution() {
    String killed = isola("exec", "-d", "web", "sleep", "1000").out().strip();
    String asked = isola("exec", "-d", "web", "sleep", "1000").out().strip();
    String other = isola("exec", "-d", "web", "sleep", "1000").out().strip();
    assertThat(isola("kill", "web", killed).code()).isZero();
    assertThat(isola("kill", "--signal", "TERM", "web", asked, "--json").out())
        .contains("\"execution\":\"" + asked + "\"", "\"signal\":\"TERM\"");
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              String executions = isola("logs", "web").out();
              assertThat(executions)
                  .containsPattern("(?m)^" + killed + " .* exited with 137 ")
                  .containsPattern("(?m)^" + asked + " .* exited with 143 ")
                  .containsPattern("(?m)^" + other + " .* running ");
            });
    assertThat(isola("kill", "web", "999").err()).contains("run isola logs ID to list executions");
    CommandResult missing = isola("kill", "web");
    assertThat(missing.code()).isEqualTo(ExitCodes.USAGE);
    assertThat(missing.err()).contains("isola logs web", "isola rm web");
    assertThat(isola("kill", "--signal", "LOUD", "web", other).err()).contains("not a signal");
  }

  @Test
  void portsAreValidatedAndReportedAsTheyAre() throws IOException {
    String port;
    try (ServerSocket service = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      port = Integer.toString(service.getLocalPort());
      String url = "http://" + port + "-" + id + ".localhost:";
      assertThat(isola("ports", "web", port, "--json").out())
          .contains("\"port\":" + port, "\"public\":false", "\"listening\":true", url);
      assertThat(isola("ports", "web", port, "--public", "--json").out())
          .contains("\"public\":true", "\"listening\":true");
      assertThat(isola("ports", "web").out()).containsPattern(port + " +public +yes +" + url);
    }
    assertThat(isola("ports", "web", "--json").out())
        .contains("\"port\":" + port, "\"public\":true", "\"listening\":false");
    String key = isola("keys", "create", "reader", "--scope", "read").out().strip();
    CommandLineFixture reader = fixture();
    reader.env.put("ISOLA_API_KEY", key);
    assertThat(reader.call("ports", "web").out()).contains("public", "unknown");
    assertThat(isola("keys", "rm", "reader").code()).isZero();

    for (String wrong : new String[] {"0", "65536", "http", "-1", "80x"}) {
      assertThat(isola("ports", "web", "--", wrong).err())
          .isEqualTo("isola: '" + wrong + "' is not a port; use a number from 1 to 65535\n");
    }
    assertThat(isola("ports", "web", "80", "81", "80", "--public").err())
        .isEqualTo("isola: port 80 is given twice; omit one of them\n");
    assertThat(isola("ports", "web", "80", "--ttl", "1m").code()).isEqualTo(ExitCodes.USAGE);
  }

  @Test
  void tablesFitTheTerminal() {
    isola(
        "create",
        "--name",
        "a-name-with-many-characters-in-it",
        "--tag",
        "purpose=" + "x".repeat(100));
    CommandLineFixture terminal = fixture();
    terminal.interactive = new CliEnvironment.TtyStatus(false, true, false);
    terminal.env.put("COLUMNS", "80");
    for (String command : new String[] {"ls", "top --once", "snapshot ls", "providers"}) {
      assertThat(terminal.call(command.split(" ")).out().lines())
          .as(command)
          .allMatch(line -> line.length() <= 80);
    }
    assertThat(terminal.call("ls").out())
        .contains("a-name-with…", "subprocess", id.substring(0, 12));
    assertThat(terminal.call("ls", "--wide").out()).contains("x".repeat(100), id);
    assertThat(isola("ls").out()).contains("x".repeat(100), id);
  }

  @Test
  void execWithoutACommandIsExplained() {
    CommandResult called = isola("exec", "--", "ls");
    assertThat(called.code()).isEqualTo(ExitCodes.USAGE);
    assertThat(called.err())
        .contains("only 'ls' was given", "isola exec ID -- ls", "isola run -- ls");
  }
}
