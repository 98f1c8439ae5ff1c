package dev.isola.compat.e2b;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.compat.e2b.model.E2bCredentials;
import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.server.HttpServerOptions;
import dev.isola.server.TestClient;
import dev.isola.server.TestServer;
import dev.isola.server.auth.SandboxToken;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Names a sandbox in every spelling, on every route and with every credential. A spelling that
 * leads to the sandbox gets the answer that its id gets; every other one is refused. The sandbox
 * has a folder of the host, so that keys below scope admin may do nothing in it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SandboxIdentifierTest {
  private static final String NAME = "the-admins";
  private static final String SUFFIX = "-isola";

  private TestServer testServer;
  private String sandbox;
  private final Map<String, String> credentials = new LinkedHashMap<>();

  /** Spellings of the sandbox in a path, by what is special about them. */
  private final Map<String, String> spellings = new LinkedHashMap<>();

  @BeforeAll
  void open(@TempDir Path folder) throws IOException {
    testServer =
        E2bTestServer.open(
            folder.resolve("server"),
            new SubprocessProviderFactory(),
            context -> HttpServerOptions.NONE,
            Map.of("allow_host_folders", "true", "shutdown", "drain"));
    Path shared = Files.createDirectories(folder.resolve("shared"));
    TestClient.Response made =
        testServer
            .client()
            .post(
                "/api/v1/sandboxes",
                "{\"workspacePath\":\"" + shared + "\",\"name\":\"" + NAME + "\"}");
    assertThat(made.status()).as(made.text()).isEqualTo(201);
    sandbox = made.field("id");
    String other = testServer.client().post("/api/v1/sandboxes", "{}").field("id");
    credentials.put("none", "");
    credentials.put("read", testServer.read);
    credentials.put("use", testServer.use);
    credentials.put("admin", testServer.admin);
    credentials.put("other", token(SandboxToken.Kind.USE, other, 600));
    credentials.put("preview", token(SandboxToken.Kind.PREVIEW, sandbox, 600));
    credentials.put("expired", token(SandboxToken.Kind.USE, sandbox, -1));
    String encoded = "%" + Integer.toHexString(sandbox.charAt(0)) + sandbox.substring(1);
    spellings.put("encoded", encoded);
    spellings.put("suffix", sandbox + SUFFIX);
    spellings.put("encoded suffix", encoded + "%2D" + "isola");
    spellings.put("suffix twice", sandbox + SUFFIX + SUFFIX);
    spellings.put("suffix alone", SUFFIX);
    spellings.put("other suffix", sandbox + "-other");
    spellings.put("upper case", sandbox.toUpperCase(Locale.ROOT));
    spellings.put("prefix", sandbox.substring(0, 10));
    spellings.put("longer", sandbox + "0");
    spellings.put("name", NAME);
    spellings.put("name with suffix", NAME + SUFFIX);
    spellings.put("space", sandbox + "%20");
    spellings.put("zero byte", sandbox + "%00");
    spellings.put("slash", sandbox + "%2F");
    spellings.put("other folder", "x%2F..%2F" + sandbox);
    spellings.put("semicolon", sandbox + ";a=b");
    spellings.put("encoded twice", encoded.replace("%", "%25"));
  }

  @AfterAll
  void close() throws IOException {
    testServer.client().delete("/api/v1/sandboxes/" + sandbox + "?force=true");
    testServer.close();
  }

  private String token(SandboxToken.Kind kind, String id, long seconds) {
    return testServer
        .keys
        .tokens()
        .sign(
            new SandboxToken(
                kind, new SandboxId(id), 0, testServer.keys.tokens().expiryAfter(seconds)))
        .reveal();
  }

  private void assertUnchanged() throws IOException {
    assertThat(testServer.client().get("/api/v1/sandboxes/" + sandbox).field("state"))
        .isEqualTo("running");
  }

  @Test
  void everySpellingInAPathGetsTheAnswerOfTheIdOrIsRefused() throws IOException {
    List<String> problems = new ArrayList<>();
    int same = 0;
    for (Route route : testServer.routes.all()) {
      if (!route.template().contains("{id}")) {
        continue;
      }
      for (String credential : credentials.keySet()) {
        int expected = send(route, sandbox, credential);
        for (Map.Entry<String, String> spelling : spellings.entrySet()) {
          int status = send(route, spelling.getValue(), credential);
          boolean leadsToIt = leadsToIt(route, spelling.getKey());
          boolean right = leadsToIt ? status == expected : status >= 400;
          if (!right) {
            problems.add(
                route.name()
                    + " "
                    + spelling.getKey()
                    + " "
                    + credential
                    + ": "
                    + status
                    + (leadsToIt ? ", expected " + expected : ""));
          }
          same += leadsToIt ? 1 : 0;
        }
      }
    }
    assertThat(problems).isEmpty();
    assertThat(same).isGreaterThan(500);
    assertUnchanged();
  }

  /** The first versions of E2B's clients append a suffix. */
  private static boolean leadsToIt(Route route, String spelling) {
    return spelling.equals("encoded")
        || (List.of("suffix", "encoded suffix").contains(spelling)
            && route.dialect() instanceof E2bDialect);
  }

  private int send(Route route, String spelling, String credential) throws IOException {
    boolean privileged = credential.equals("admin");
    boolean json = route.body() instanceof Route.Body.Json;
    if (privileged && !route.dialect().isNative() && !json && !route.method().equals("GET")) {
      return 404; // it would destroy the sandbox
    }
    String path =
        route
            .template()
            .replace("{id}", spelling)
            .replace("{port}", "8000")
            .replace("{execution}", "1")
            .replace("{rest}", "")
            .replaceAll("\\{[a-z]+}", "missing");
    Map<String, String> headers = new LinkedHashMap<>();
    String secret = credentials.getOrDefault(credential, "");
    if (!secret.isEmpty()) {
      headers.put("Authorization", "Bearer " + secret);
      headers.put(E2bCredentials.KEY_HEADER, secret);
    }
    byte[] body = new byte[0];
    if (json) {
      headers.put("Content-Type", "application/json");
      body = (privileged ? "[]" : "{}").getBytes(UTF_8);
    }
    String query = privileged && route.dialect().isNative() ? "?nosuch=1" : query(route);
    try (TestClient.OpenResponse open =
        testServer.client("").open(route.method(), path + query, headers, body)) {
      return open.status();
    }
  }

  /** Returns a valid query, so that a request that is not refused has its effect. */
  private static String query(Route route) {
    Map<String, String> values = Map.of("path", ".", "pattern", "*", "follow", "false");
    return route.parameters().stream()
        .filter(one -> one.where() == Parameter.Where.QUERY && values.containsKey(one.name()))
        .map(one -> one.name() + "=" + values.get(one.name()))
        .collect(Collectors.joining("&", "?", ""))
        .replaceFirst("\\?$", "");
  }

  /** Host names have no case, and E2B's clients may append the suffix. */
  @Test
  void everySpellingInAHostNameGetsTheAnswerOfTheIdOrIsRefused() throws IOException {
    List<String> same =
        List.of(
            sandbox + SUFFIX,
            sandbox.toUpperCase(Locale.ROOT),
            (sandbox + SUFFIX).toUpperCase(Locale.ROOT));
    List<String> none =
        List.of(
            sandbox + SUFFIX + SUFFIX,
            sandbox + "-other",
            sandbox.substring(0, 10),
            sandbox + "0",
            NAME,
            NAME + SUFFIX,
            "%" + Integer.toHexString(sandbox.charAt(0)) + sandbox.substring(1),
            sandbox + ".",
            "x." + sandbox);
    for (String port : List.of("8000", "49983")) {
      for (String path : List.of("/", "/files?path=.")) {
        for (String credential : credentials.keySet()) {
          int expected = sendToHost(port + "-" + sandbox, path, credential);
          for (String spelling : same) {
            assertThat(sendToHost(port + "-" + spelling, path, credential))
                .as("%s %s %s %s", port, path, credential, spelling)
                .isEqualTo(expected);
          }
          for (String spelling : none) {
            assertThat(sendToHost(port + "-" + spelling, path, credential))
                .as("%s %s %s %s", port, path, credential, spelling)
                .isGreaterThanOrEqualTo(400);
          }
        }
      }
    }
    assertUnchanged();
  }

  private int sendToHost(String name, String path, String credential) throws IOException {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Host", name + ".localhost");
    String secret = credentials.getOrDefault(credential, "");
    if (!secret.isEmpty()) {
      headers.put("Authorization", "Bearer " + secret);
    }
    try (TestClient.OpenResponse open =
        testServer.client("").open("GET", path, headers, new byte[0])) {
      return open.status();
    }
  }

  @Test
  void spellingInAHeaderOfE2bLeadsToTheSandboxOrNowhere() throws IOException {
    for (Map.Entry<String, String> spelling : spellings.entrySet()) {
      for (String credential : credentials.keySet()) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("E2b-Sandbox-Id", spelling.getValue());
        headers.put("E2b-Sandbox-Port", "49983");
        String secret = credentials.getOrDefault(credential, "");
        if (!secret.isEmpty()) {
          headers.put(E2bCredentials.ENVD_HEADER, secret);
        }
        try (TestClient.OpenResponse open =
            testServer.client("").open("GET", "/files?path=.", headers, new byte[0])) {
          assertThat(open.status())
              .as("%s %s", spelling.getKey(), credential)
              .isGreaterThanOrEqualTo(400);
        }
      }
    }
    assertUnchanged();
  }
}
