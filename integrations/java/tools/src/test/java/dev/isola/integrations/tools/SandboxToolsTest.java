package dev.isola.integrations.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxInfo;
import dev.isola.client.SandboxSpec;
import dev.isola.codec.json.Json;
import dev.isola.testing.server.TestServer;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The tools against a server process, with models and guest processes that mean harm. */
@Timeout(60)
class SandboxToolsTest {
  private static final String SESSION = "conversation";

  private static Isola isola;
  private SandboxTools tools;

  @BeforeAll
  static void connect() {
    TestServer server = TestServer.shared();
    isola = Isola.connect(server.url(), server.key());
  }

  @AfterAll
  static void disconnect() {
    isola.close();
  }

  @BeforeEach
  void create() {
    tools = SandboxTools.creating(isola, ToolOptions.DEFAULT);
  }

  @AfterEach
  void closeLeavesNoSandbox() {
    tools.close();
    assertThat(isola.list(SandboxFilter.ALL)).isEmpty();
  }

  private ToolResult call(String tool, Object... arguments) {
    return tools.call(SESSION, tool, Json.text(Json.object(arguments)));
  }

  private String text(String tool, Object... arguments) {
    ToolResult result = call(tool, arguments);
    assertThat(result.isError()).as(result.text()).isFalse();
    return result.text();
  }

  private String error(String tool, Object... arguments) {
    ToolResult result = call(tool, arguments);
    assertThat(result.isError()).as(result.text()).isTrue();
    assertThat(result.text()).contains("\nRemedy: ").doesNotContain(TestServer.shared().key());
    return result.text();
  }

  @Test
  void definitionsAreCompleteAndSmall() {
    assertThat(tools.definitions())
        .extracting(ToolDefinition::name)
        .containsExactly(
            "exec", "list_files", "preview_url", "read_file", "run_code", "write_file");
    String all =
        tools.definitions().stream()
            .map(one -> one.name() + one.description() + one.inputSchema())
            .reduce("", String::concat);
    assertThat(all).hasSizeLessThan(3000);
    assertThat(Json.parseObject(tools.definitions().getFirst().inputSchema()))
        .containsEntry("required", List.of("command"));
    assertThat(isola.list(SandboxFilter.ALL)).as("nothing was called").isEmpty();
  }

  @Test
  void commandsAndCodeRunInOneSandbox() {
    assertThat(text("exec", "command", "echo one > a; echo two >&2; exit 3"))
        .isEqualTo("[standard error]\ntwo\n[exit code 3]");
    assertThat(text("exec", "command", "cat a -", "stdin", "in"))
        .isEqualTo("one\nin\n[exit code 0]");
    assertThat(text("run_code", "code", "print(open('a').read() * 2, end='')"))
        .isEqualTo("one\none\n[exit code 0]");
    assertThat(text("run_code", "code", "wc -c < a", "language", "shell"))
        .isEqualTo("4\n[exit code 0]");
    assertThat(text("exec", "command", "pwd", "cwd", "/tmp")).isEqualTo("/tmp\n[exit code 0]");
    assertThat(isola.list(SandboxFilter.ALL)).hasSize(1);
  }

  @Test
  void filesAreWrittenReadAndListed() {
    assertThat(text("write_file", "path", "src/é.txt", "content", "héllo\n"))
        .isEqualTo("wrote 7 bytes to src/é.txt");
    assertThat(text("read_file", "path", "src/é.txt")).isEqualTo("héllo\n");
    assertThat(text("list_files", "depth", 2)).contains("directory ", "file 7 ", "src/é.txt");
    assertThat(text("list_files", "path", "src")).contains("file 7 ");
    assertThat(text("exec", "command", "mkdir empty")).isEqualTo("[exit code 0]");
    assertThat(text("list_files", "path", "empty")).isEqualTo("the directory is empty");
  }

  @Test
  void largeOutputHasItsBeginningItsEndAndANote() {
    String text =
        text("exec", "command", "echo BEGIN; head -c 5000000 /dev/zero | tr '\\0' x; echo END");
    assertThat(text)
        .startsWith("BEGIN\nxxx")
        .contains("[... the middle of the standard output is left out here: it has 5000010 bytes;")
        .endsWith("xEND\n[exit code 0]")
        .hasSizeLessThan(34_000);
  }

  @Test
  void bothChannelsShareTheLimit() {
    String text =
        text("exec", "command", "seq 100000; echo LAST; seq 100000 >&2; echo FAILURE >&2; exit 1");
    assertThat(text)
        .contains("LAST\n[standard error]", "of the standard error is left out")
        .endsWith("FAILURE\n[exit code 1]")
        .hasSizeLessThan(34_000);
  }

  @Test
  void escapeSequencesAndInvalidBytesBecomePlainText() {
    assertThat(
            text(
                "exec",
                "command",
                "printf '\\033[31mred\\033[0m \\033]0;title\\007ok \\377\\376 \\000\\b \\033[' ;"
                    + " printf '\\342\\200\\256' ; printf 'a\\r\\nb\\rc'"))
        .isEqualTo("red ok \ufffd\ufffd \ufffd\ufffd \ufffd[\ufffda\nb\nc\n[exit code 0]");
  }

  @Test
  void namesOfFilesCannotAddLines() {
    text("exec", "command", "mkdir d; touch \"$(printf 'd/a\\nfile 1 \\033[2Jb')\"");
    assertThat(text("list_files", "path", "d")).doesNotContain("\n", "\u001b").endsWith("b");
  }

  @Test
  void longListingSaysHowMuchIsLeftOut() {
    text("exec", "command", "mkdir many; cd many; seq 700 | xargs touch");
    assertThat(text("list_files", "path", "many"))
        .endsWith("[200 more entries are left out; list a subdirectory]");
  }

  @Test
  void longFileIsReadInPartsWithoutCuttingACharacter() {
    text(
        "exec", "command", "i=0; while [ $i -lt 4000 ]; do printf 'aéééééé'; i=$((i+1)); done > f");
    String first = text("read_file", "path", "f");
    String marker = "\n[the file continues; read on with offset=";
    assertThat(first).contains(marker).doesNotContain("\ufffd");
    String offset = first.substring(first.indexOf(marker) + marker.length(), first.length() - 1);
    String second = text("read_file", "path", "f", "offset", Long.parseLong(offset));
    assertThat(first.substring(0, first.indexOf(marker)) + second)
        .isEqualTo("aéééééé".repeat(4000));
    assertThat(text("read_file", "path", "f", "offset", 60_000_000)).isEmpty();
  }

  @Test
  void filesThatAreNotTextAreAnError() {
    text("exec", "command", "printf '\\377\\376' > b; printf 'a\\000b' > n; ln -s /dev/zero z");
    assertThat(error("read_file", "path", "b")).startsWith("NOT_TEXT: ");
    assertThat(error("read_file", "path", "n")).startsWith("NOT_TEXT: ");
    assertThat(error("read_file", "path", "z")).doesNotStartWith("READ_FAILED");
    assertThat(error("read_file", "path", ".")).startsWith("IS_A_FOLDER: ");
    assertThat(error("read_file", "path", "missing")).startsWith("FILE_NOT_FOUND: ");
  }

  @Test
  void pathsStayInTheSandbox() {
    // Without isolation, the paths of a sandbox are those of the host.
    try (Sandbox sandbox = isola.create(SandboxSpec.builder().provider("subprocess").build());
        SandboxTools unisolated = SandboxTools.in(sandbox, ToolOptions.DEFAULT)) {
      sandbox.exec("ln -s /etc link");
      for (String path : List.of("../../escape", "/etc/passwd", "link/passwd", "../../../b")) {
        String json = Json.text(Json.object("path", path));
        assertThat(unisolated.call(SESSION, "read_file", json).text()).startsWith("PATH_OUTSIDE: ");
        assertThat(
                unisolated
                    .call(
                        SESSION, "write_file", Json.text(Json.object("path", path, "content", "")))
                    .text())
            .startsWith("PATH_OUTSIDE: ");
      }
      assertThat(unisolated.call(SESSION, "list_files", "{\"path\": \"link\"}").text())
          .startsWith("PATH_OUTSIDE: ");
    }
  }

  @Test
  void timeoutKillsTheCommandAndKeepsItsOutput() {
    assertThat(text("exec", "command", "echo begun; sleep 50", "timeoutSeconds", 2))
        .isEqualTo("begun\n[killed: timeout of 2 s]");
    assertThat(error("exec", "command", "true", "timeoutSeconds", 601))
        .contains("'timeoutSeconds' must be 1 to 600");
  }

  @Test
  void goneSandboxIsReplacedByTheNextCall() {
    text("exec", "command", "touch file");
    isola.sandbox(isola.list(SandboxFilter.ALL).getFirst().id()).destroy();
    assertThat(error("exec", "command", "ls"))
        .startsWith("SANDBOX_")
        .contains("no longer exists", "new, empty sandbox");
    assertThat(text("exec", "command", "ls")).isEqualTo("[exit code 0]");
  }

  @Test
  void sandboxDestroyedDuringACommandIsAnError() throws InterruptedException {
    text("exec", "command", "true");
    SandboxInfo info = isola.list(SandboxFilter.ALL).getFirst();
    Thread destroyer =
        Thread.ofVirtual()
            .start(
                () -> {
                  Sandbox sandbox = isola.sandbox(info.id());
                  while (sandbox.files().find("started").isEmpty()) {
                    Thread.onSpinWait();
                  }
                  sandbox.destroy();
                });
    ToolResult result = call("exec", "command", "touch started; sleep 50");
    destroyer.join();
    assertThat(result.text()).matches("(?s)(\\[lost: |\\[killed|SANDBOX_|OUTCOME_UNKNOWN).*");
  }

  @Test
  void keyWithFewerRightsIsAnErrorWithoutTheKey() {
    text("exec", "command", "true");
    String id = isola.list(SandboxFilter.ALL).getFirst().id();
    String key = isola.keys().create("reader", "read").key();
    try (Isola reader = Isola.connect(TestServer.shared().url(), key);
        SandboxTools creating = SandboxTools.creating(reader, ToolOptions.DEFAULT);
        SandboxTools existing = SandboxTools.in(reader.sandbox(id), ToolOptions.DEFAULT)) {
      for (SandboxTools limited : List.of(creating, existing)) {
        ToolResult result = limited.call(SESSION, "exec", "{\"command\": \"true\"}");
        assertThat(result.isError()).isTrue();
        assertThat(result.text()).startsWith("FORBIDDEN: ").doesNotContain(key);
      }
      isola.keys().revoke("reader");
      assertThat(creating.call(SESSION, "exec", "{\"command\": \"true\"}").text())
          .startsWith("UNAUTHENTICATED: ")
          .doesNotContain(key);
    }
  }

  @Test
  void unreachableServerIsAnError() {
    try (Isola nowhere = Isola.connect("http://127.0.0.1:1", TestServer.shared().key());
        SandboxTools unreachable = SandboxTools.creating(nowhere, ToolOptions.DEFAULT)) {
      assertThat(unreachable.call(SESSION, "exec", "{\"command\": \"true\"}").text())
          .startsWith("SERVER_UNREACHABLE: ")
          .doesNotContain(TestServer.shared().key());
    }
  }

  @Test
  void wrongArgumentsAreErrorsThatNameThem() {
    assertThat(error("exec")).contains("'command' is missing");
    assertThat(error("exec", "command", 1)).contains("'command' must be a string");
    assertThat(error("exec", "command", "true", "shell", "zsh"))
        .contains("exec takes only: command,");
    assertThat(error("preview_url", "port", 70_000)).contains("'port' must be 1 to 65535");
    assertThat(error("preview_url", "port", 1.5)).contains("must be an integer");
    assertThat(error("run_code", "code", "1", "language", "cobol")).contains("one of [python,");
    assertThat(error("run_code", "code", "#".repeat(100_001))).contains("write it to a file");
    assertThat(error("rm")).startsWith("TOOL_NOT_FOUND: ");
    for (String json : List.of("{", "[]", "null", "[".repeat(100_000), "{\"command\": }")) {
      assertThat(tools.call(SESSION, "exec", json).text()).contains("not a JSON object");
    }
    assertThat(tools.call(SESSION, "exec", " ".repeat(3 << 20)).text())
        .contains("longer than 2 MiB");
    assertThat(isola.list(SandboxFilter.ALL)).as("nothing was run").isEmpty();
  }

  @Test
  void missingInterpreterIsAnError() {
    CodeLanguage language = new CodeLanguage("none", List.of("no-such-interpreter"));
    try (SandboxTools none =
        SandboxTools.creating(isola, ToolOptions.DEFAULT.withLanguages(language))) {
      assertThat(none.call(SESSION, "run_code", "{\"code\": \"1\"}").text())
          .startsWith("COMMAND_NOT_FOUND: ");
    }
  }

  @Test
  void previewIsAWebServerOfTheSandbox() throws IOException {
    text("write_file", "path", "site/index.html", "content", "hello from inside");
    assertThat(text("preview_url", "port", 8123)).endsWith("[no process listens on port 8123 yet]");
    text(
        "exec",
        "command",
        "cd site; nohup python3 -m http.server 8123 >log 2>&1 & "
            + "until python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 8123))'"
            + " 2>/dev/null; do :; done");
    URI link = URI.create(text("preview_url", "port", 8123));
    String redirect = get(link, link.getRawPath() + "?" + link.getRawQuery(), "");
    Matcher cookie = Pattern.compile("(?i)\nset-cookie: ([^;]+)").matcher(redirect);
    assertThat(cookie.find()).as(redirect).isTrue();
    assertThat(get(link, "/", "Cookie: " + cookie.group(1) + "\r\n")).endsWith("hello from inside");
  }

  /** Sends a request to the server with the host of the link, which Java does not resolve. */
  private static String get(URI link, String path, String headers) throws IOException {
    URI server = URI.create(TestServer.shared().url());
    try (Socket socket = new Socket(server.getHost(), server.getPort())) {
      String head = "GET " + path + " HTTP/1.1\r\nHost: " + link.getAuthority() + "\r\n";
      socket
          .getOutputStream()
          .write((head + headers + "Connection: close\r\n\r\n").getBytes(StandardCharsets.UTF_8));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void sessionsDoNotShareASandbox() {
    try (SandboxTools two = SandboxTools.creating(isola, ToolOptions.DEFAULT.withMaxSandboxes(2))) {
      String ls = "{\"command\": \"ls\"}";
      two.call("a", "exec", "{\"command\": \"touch a\"}");
      two.call("b", "exec", "{\"command\": \"touch b\"}");
      assertThat(two.call("a", "exec", ls).text()).startsWith("a\n[");
      assertThat(two.call("b", "exec", ls).text()).startsWith("b\n[");
      two.call("a", "exec", ls);
      two.call("c", "exec", ls);
      assertThat(isola.list(SandboxFilter.ALL)).as("b was used least recently").hasSize(2);
      assertThat(two.call("a", "exec", ls).text()).startsWith("a\n[");
      assertThat(two.call("b", "exec", ls).text()).isEqualTo("[exit code 0]");
      two.endSession("a");
      assertThat(isola.list(SandboxFilter.ALL)).hasSize(1);
    }
    assertThatThrownBy(() -> closed().call("a", "exec", "{\"command\": \"ls\"}"))
        .isInstanceOf(IllegalStateException.class);
  }

  private static SandboxTools closed() {
    SandboxTools closed = SandboxTools.creating(isola, ToolOptions.DEFAULT);
    closed.close();
    return closed;
  }

  @Test
  void parallelFirstCallsCreateOneSandbox() throws InterruptedException {
    List<Thread> calls =
        IntStream.range(0, 8)
            .mapToObj(i -> Thread.ofVirtual().start(() -> call("exec", "command", "touch " + i)))
            .toList();
    for (Thread call : calls) {
      call.join();
    }
    assertThat(text("exec", "command", "ls | wc -l")).isEqualTo("8\n[exit code 0]");
    assertThat(isola.list(SandboxFilter.ALL)).hasSize(1);
  }

  @Test
  void createdSandboxesExpireAndGivenOnesStay() {
    text("exec", "command", "true");
    assertThat(isola.list(SandboxFilter.ALL).getFirst().document().toString())
        .contains("idleTimeoutSeconds=1800");
    SandboxSpec own = SandboxSpec.builder().ttl(Duration.ofMinutes(5)).build();
    assertThat(ToolOptions.DEFAULT.withSpec(own).spec()).isEqualTo(own);
    try (Sandbox sandbox = isola.create()) {
      SandboxTools.in(sandbox, ToolOptions.DEFAULT).close();
      assertThat(sandbox.exec("echo alive").stdout()).isEqualTo("alive\n");
    }
  }

  @Test
  void applicationChoosesTheTools() {
    try (SandboxTools few =
        SandboxTools.creating(isola, ToolOptions.DEFAULT.withTools("read_file", "list_files"))) {
      assertThat(few.definitions()).hasSize(2);
      assertThat(few.call(SESSION, "exec", "{\"command\": \"true\"}").text())
          .startsWith("TOOL_NOT_FOUND: ")
          .contains("list_files, read_file");
    }
    assertThatThrownBy(() -> ToolOptions.DEFAULT.withTools("exec", "rm"))
        .hasMessageContaining("there is no tool 'rm'");
  }
}
