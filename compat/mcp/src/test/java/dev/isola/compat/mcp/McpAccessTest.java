package dev.isola.compat.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.server.HttpServerOptions;
import dev.isola.server.RequestListener;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import dev.isola.server.limit.RequestLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a key may not do in the API, it may not do by MCP; and no client grows the server. */
@Timeout(60)
class McpAccessTest {
  /** Arguments of tools that name a sandbox. */
  private static final Set<String> REFERENCES = Set.of("sandbox", "from", "handle");

  /** Values of all other arguments. */
  private static final Map<Object, Object> USUAL =
      Map.ofEntries(
          Map.entry("command", "touch made"),
          Map.entry("cwd", "."),
          Map.entry("stdin", ""),
          Map.entry("waitSeconds", 1),
          Map.entry("timeoutSeconds", 1),
          Map.entry("offset", 0),
          Map.entry("limit", 1),
          Map.entry("signal", "TERM"),
          Map.entry("path", "made"),
          Map.entry("content", "x"),
          Map.entry("encoding", "utf8"),
          Map.entry("append", true),
          Map.entry("port", 80),
          Map.entry("name", "x"),
          Map.entry("image", "x"),
          Map.entry("allowDomains", List.of()),
          Map.entry("env", Map.of()),
          Map.entry("ttlSeconds", 60));

  @TempDir Path folder;
  private final List<RequestListener.CompletedRequest> completed = new CopyOnWriteArrayList<>();
  private TestServer server;

  @BeforeEach
  void start() {
    server =
        new TestServer(
            folder,
            Duration.ofSeconds(30),
            new SubprocessProviderFactory(),
            context ->
                new HttpServerOptions(
                    Optional.empty(), RequestLimits.NONE, List.of(completed::add), Optional::empty),
            Map.of("allow_host_folders", "true"),
            (context, keys, stored) ->
                List.of(new McpApi(context, keys, "subprocess", "test", HostingLimits.DEFAULT)));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private String sandbox() throws IOException {
    return server.client().post("/api/v1/sandboxes", "{}").field("id");
  }

  private McpClient client(String key) {
    return McpClient.of(server.client(key));
  }

  private static void assertForbidden(McpClient.Result result) {
    assertThat(result.isError()).as(result.text()).isTrue();
    assertThat(result.field("code")).isEqualTo("FORBIDDEN");
    assertThat(result.field("remedy")).isNotEmpty();
  }

  @Test
  void requestWithoutAKeyIsRefused() throws IOException {
    assertThat(client("isk_wrong0123456789").send("tools/list", Map.of()).status()).isEqualTo(401);
    assertThat(client("isk_wrong0123456789").modern("server/discover", Map.of()).status())
        .isEqualTo(401);
  }

  @Test
  void readKeyChangesNothing() throws IOException {
    String id = sandbox();
    McpClient use = client(server.use);
    String handle = use.call("exec", Map.of("sandbox", id, "command", "echo hi")).field("handle");
    McpClient read = McpClient.withSession(server.client(server.read));

    assertForbidden(read.call("create_sandbox", Map.of()));
    assertForbidden(read.call("exec", Map.of("sandbox", id, "command", "touch made")));
    assertForbidden(read.call("exec", Map.of("command", "touch made")));
    assertForbidden(read.call("write_file", Map.of("sandbox", id, "path", "a", "content", "b")));
    assertForbidden(read.call("kill", Map.of("handle", handle)));
    assertForbidden(read.call("snapshot", Map.of("sandbox", id)));
    assertForbidden(read.call("create_sandbox", Map.of("from", id)));
    assertForbidden(read.call("preview_url", Map.of("sandbox", id, "port", 80)));
    assertForbidden(read.call("destroy_sandbox", Map.of("sandbox", id)));

    assertThat(read.call("output", Map.of("handle", handle)).field("output")).isEqualTo("hi\n");
    assertThat(read.call("list_sandboxes", Map.of()).text()).contains(id);
    assertThat(use.call("exec", Map.of("sandbox", id, "command", "ls")).field("output")).isEmpty();
  }

  /** As in the API: these files contain the environment of commands. */
  @ParameterizedTest
  @ValueSource(
      strings = {"/proc/self/environ", "/sys/kernel", "/dev/null", "./../../proc/1/environ"})
  void readKeyDoesNotReadFilesOfTheKernel(String path) throws IOException {
    String id = sandbox();
    McpClient.Result refused =
        client(server.read).call("read_file", Map.of("sandbox", id, "path", path));
    assertThat(refused.isError()).as(refused.text()).isTrue();
    assertThat(refused.field("code")).isIn("FORBIDDEN", "PATH_OUTSIDE");
  }

  /** In a sandbox that sees these files, a path of its own may lead there, too. */
  @ParameterizedTest
  @ValueSource(strings = {"/proc/version", "/proc", "/sys", "link/version"})
  void readKeyDoesNotReadFilesOfTheKernelThatASandboxSees(String path) throws IOException {
    TestServer open =
        new TestServer(
            folder.resolve("open"),
            Duration.ofSeconds(30),
            new BubblewrapProviderFactory(),
            context -> HttpServerOptions.NONE,
            Map.of(),
            (context, keys, stored) ->
                List.of(new McpApi(context, keys, "bubblewrap", "test", HostingLimits.DEFAULT)));
    try {
      TestClient.Response created = open.client().post("/api/v1/sandboxes", "{}");
      Assumptions.assumeTrue(created.status() == 201, "NOT RUN: " + created.text());
      String id = created.field("id");
      McpClient use = McpClient.of(open.client(open.use));
      McpClient.Result linked =
          use.call("exec", Map.of("sandbox", id, "command", "ln -s /proc link"));
      assertThat(linked.isError()).as(linked.text()).isFalse();
      Map<String, Object> arguments = Map.of("sandbox", id, "path", path);
      McpClient.Result control = use.call("read_file", arguments);
      assertThat(control.isError()).as(control.text()).isFalse();
      assertForbidden(McpClient.of(open.client(open.read)).call("read_file", arguments));
    } finally {
      open.close();
    }
  }

  @Test
  void useKeyDoesNotUseASandboxWithFoldersOfTheHost() throws IOException {
    Path shared = Files.createDirectory(folder.resolve("shared"));
    TestClient.Response created =
        server
            .client(server.admin)
            .post("/api/v1/sandboxes", "{\"workspacePath\": \"" + shared + "\"}");
    assertThat(created.status()).as(created.text()).isEqualTo(201);
    String id = created.field("id");
    String handle =
        client(server.admin)
            .call("exec", Map.of("sandbox", id, "command", "echo secret"))
            .field("handle");
    McpClient use = client(server.use);

    assertForbidden(use.call("exec", Map.of("sandbox", id, "command", "ls")));
    assertForbidden(use.call("read_file", Map.of("sandbox", id, "path", ".")));
    assertForbidden(use.call("write_file", Map.of("sandbox", id, "path", "a", "content", "b")));
    assertForbidden(use.call("output", Map.of("handle", handle)));
    assertForbidden(use.call("kill", Map.of("handle", handle)));
    assertForbidden(use.call("create_sandbox", Map.of("from", id)));
    assertForbidden(use.call("snapshot", Map.of("sandbox", id)));
    assertForbidden(use.call("preview_url", Map.of("sandbox", id, "port", 80)));
    assertForbidden(use.call("destroy_sandbox", Map.of("sandbox", id)));
  }

  /** A name leads to the sandbox, and every other spelling of its id to none. */
  @ParameterizedTest
  @ValueSource(strings = {"%s", "the-admins", "%s-isola", "X%s", "%s ", "/%s", "%.10s", "%%36%s"})
  void everySpellingOfASandboxOfTheHostIsRefused(String spelling) throws IOException {
    Path shared = Files.createDirectories(folder.resolve("shared"));
    TestClient admin = server.client(server.admin);
    String id =
        admin
            .post(
                "/api/v1/sandboxes",
                "{\"name\": \"the-admins\", \"workspacePath\": \"" + shared + "\"}")
            .field("id");
    String reference = String.format(Locale.ROOT, spelling, id);
    int called = 0;
    for (Object each : McpClient.list(McpClient.object(tools(), "result"), "tools")) {
      Map<?, ?> tool = (Map<?, ?>) each;
      String name = String.valueOf(tool.get("name"));
      Map<?, ?> schema = McpClient.object(tool, "inputSchema");
      for (Object property : McpClient.object(schema, "properties").keySet()) {
        assertThat(USUAL.containsKey(property) || REFERENCES.contains(property))
            .as("whether %s of %s names a sandbox", property, name)
            .isTrue();
        if (!REFERENCES.contains(property)) {
          continue;
        }
        boolean handle = property.equals("handle");
        boolean leadsToIt = spelling.equals("%s") || (spelling.equals("the-admins") && !handle);
        Map<String, Object> arguments = new HashMap<>();
        if (schema.get("required") instanceof List<?> required) {
          required.forEach(
              one -> arguments.put(String.valueOf(one), USUAL.getOrDefault(one, "missing")));
        }
        arguments.put(String.valueOf(property), handle ? reference + "/1" : reference);
        for (String key : List.of(server.use, server.read)) {
          boolean mayCall = key.equals(server.use) || List.of("read_file", "output").contains(name);
          McpClient.Result refused = client(key).call(name, arguments);
          assertThat(refused.isError()).as(name + refused.text()).isTrue();
          assertThat(refused.field("code"))
              .as(name + refused.text())
              .isIn(
                  leadsToIt || !mayCall
                      ? List.of("FORBIDDEN")
                      : List.of("SANDBOX_NOT_FOUND", handle ? "INVALID_REQUEST" : ""));
          called++;
        }
      }
    }
    assertThat(called).isGreaterThan(14);
    assertThat(admin.get("/api/v1/sandboxes/" + id).field("state")).isEqualTo("running");
    assertThat(admin.get("/api/v1/sandboxes").list("sandboxes")).hasSize(1);
    assertThat(shared).isEmptyDirectory();
  }

  /** The header names a sandbox for all calls of a client that name none. */
  @Test
  void sandboxOfTheHostInTheHeaderIsRefused() throws IOException {
    Path shared = Files.createDirectories(folder.resolve("shared"));
    TestClient admin = server.client(server.admin);
    String id =
        admin
            .post(
                "/api/v1/sandboxes",
                "{\"name\": \"the-admins\", \"workspacePath\": \"" + shared + "\"}")
            .field("id");
    for (String reference : List.of(id, "the-admins")) {
      McpClient use = client(server.use).with("Isola-Sandbox", reference);
      assertForbidden(use.call("exec", Map.of("command", "touch made")));
      assertForbidden(use.call("read_file", Map.of("path", ".")));
      assertForbidden(use.call("write_file", Map.of("path", "made", "content", "b")));
      assertForbidden(use.call("snapshot", Map.of()));
      assertForbidden(use.call("preview_url", Map.of("port", 80)));
      assertForbidden(use.call("destroy_sandbox", Map.of()));
      McpClient read = client(server.read).with("Isola-Sandbox", reference);
      assertForbidden(read.call("read_file", Map.of("path", ".")));
    }
    assertThat(admin.get("/api/v1/sandboxes/" + id).field("state")).isEqualTo("running");
    assertThat(shared).isEmptyDirectory();
  }

  /** The sandbox of a session is found by a name, which an administrator may have used as well. */
  @Test
  void endOfASessionDestroysNoSandboxOfTheHost() throws IOException {
    Path shared = Files.createDirectories(folder.resolve("shared"));
    McpClient session = McpClient.withSession(server.client(server.use));
    String word = session.headers().getOrDefault("Mcp-Session-Id", "").replaceFirst("\\..*", "");
    TestClient admin = server.client(server.admin);
    String id =
        admin
            .post(
                "/api/v1/sandboxes",
                "{\"name\": \"mcp-" + word + "\", \"workspacePath\": \"" + shared + "\"}")
            .field("id");
    assertForbidden(session.call("exec", Map.of("command", "touch made")));
    TestClient.Response ended =
        server.client(server.use).send("DELETE", "/mcp", session.headers(), new byte[0]);
    assertThat(ended.status()).isEqualTo(403);
    assertThat(admin.get("/api/v1/sandboxes/" + id).field("state")).isEqualTo("running");
    assertThat(shared).isEmptyDirectory();
  }

  private Map<String, Object> tools() throws IOException {
    return McpClient.answer(client(server.admin).send("tools/list", Map.of()));
  }

  @Test
  void sessionOfAnotherKeyDoesNotExist() throws IOException {
    McpClient session = McpClient.withSession(server.client(server.use));
    McpClient other = new McpClient(server.client(server.admin), "/mcp", session.headers());
    assertThat(other.send("tools/list", Map.of()).status()).isEqualTo(404);
    assertThat(session.with("Mcp-Session-Id", "abc.def").send("ping", Map.of()).status())
        .isEqualTo(404);
    assertThat(session.send("ping", Map.of()).status()).isEqualTo(200);
  }

  @Test
  void endedSessionDoesNotExistAndItsSandboxIsDestroyed() throws IOException {
    McpClient session = McpClient.withSession(server.client(server.use));
    assertThat(session.call("exec", Map.of("command", "true")).isError()).isFalse();
    assertThat(server.client().get("/api/v1/sandboxes").list("sandboxes")).hasSize(1);
    TestClient.Response ended =
        server.client(server.use).send("DELETE", "/mcp", session.headers(), new byte[0]);
    assertThat(ended.status()).isEqualTo(204);
    assertThat(server.client().get("/api/v1/sandboxes").list("sandboxes")).isEmpty();
    assertThat(session.send("ping", Map.of()).status()).isEqualTo(404);
  }

  @Test
  void readKeyEndsItsSessionButNoSandbox() throws IOException {
    McpClient session = McpClient.withSession(server.client(server.read));
    assertThat(
            server
                .client(server.read)
                .send("DELETE", "/mcp", session.headers(), new byte[0])
                .status())
        .isEqualTo(204);
    assertThat(server.client(server.read).send("DELETE", "/mcp", Map.of(), new byte[0]).status())
        .isEqualTo(400);
  }

  /** The body names the operation, so the route alone would not tell what was done. */
  @Test
  void callsAreAuditedByTheNameOfTheTool() throws IOException {
    String id = sandbox();
    client(server.read).call("exec", Map.of("sandbox", id, "command", "true"));
    client(server.use).call("preview_url", Map.of("sandbox", id, "port", 80));
    await().until(() -> completed.stream().anyMatch(one -> one.action().equals("mcp:preview_url")));
    assertThat(completed)
        .anySatisfy(
            one -> {
              assertThat(one.action()).isEqualTo("mcp:exec");
              assertThat(one.code()).contains("FORBIDDEN");
              assertThat(one.key()).isEqualTo("read");
            })
        .anySatisfy(
            one -> {
              assertThat(one.action()).isEqualTo("mcp:preview_url");
              assertThat(one.sandbox()).contains(id);
              assertThat(one.disclosesToken()).isTrue();
            });
  }

  /** DNS rebinding: a page of another site must not reach a server on this machine. */
  @Test
  void otherOriginsAndHostsAreRefused() throws IOException {
    McpClient client = client(server.use);
    assertThat(client.with("Origin", "http://evil.example").send("ping", Map.of()).status())
        .isEqualTo(403);
    assertThat(
            client
                .with("Origin", "http://127.0.0.1:" + server.server.port())
                .send("ping", Map.of())
                .status())
        .isEqualTo(200);
    byte[] foreign =
        ("POST /mcp HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer "
                + server.use
                + "\r\nContent-Length: 2\r\n\r\n{}")
            .getBytes(UTF_8);
    try (TestClient.OpenResponse response = server.client().raw(foreign)) {
      assertThat(response.status()).isBetween(400, 421);
    }
  }

  @Test
  void bodyIsBounded() throws IOException {
    TestClient.Response response =
        client(server.use).body("{\"jsonrpc\": \"2.0\", \"x\": \"" + "a".repeat(1 << 20) + "\"}");
    assertThat(response.status()).isEqualTo(400);
  }

  @Test
  void streamIsRefusedWithTheMethodsThatExist() throws IOException {
    TestClient.Response response =
        server
            .client(server.use)
            .send("GET", "/mcp", Map.of("Accept", "text/event-stream"), new byte[0]);
    assertThat(response.status()).isEqualTo(405);
    assertThat(response.headers().get("allow")).isEqualTo("POST, DELETE");
  }

  @Test
  void sessionsNeedNoMemory() throws IOException {
    TestClient http = server.client(server.use);
    McpClient first = McpClient.withSession(http);
    for (int i = 0; i < 200; i++) {
      McpClient.withSession(http);
    }
    assertThat(first.send("ping", Map.of()).status()).isEqualTo(200);
  }
}
