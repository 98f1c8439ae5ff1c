package dev.isola.app;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.client.Isola;
import dev.isola.client.SandboxSpec;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.testing.program.ClientPackages;
import dev.isola.testing.program.ProgramResult;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * M6: published MCP servers, from npm and written with PyPI's SDK, in sandboxes of bubblewrap,
 * behind the endpoint, used by published clients of both eras. NOT RUN if Python, Node, the
 * packages or bubblewrap is not available.
 */
@Timeout(180)
@Tag("all")
class McpHostingTest {
  private static final Path PROGRAMS = Path.of("../testing/mcp").toAbsolutePath().normalize();
  private static final Path NODE = Path.of("target/mcp").toAbsolutePath();

  @TempDir Path folder;
  private final List<Process> started = new ArrayList<>();

  /** Sandboxes outlive the servers that were killed. */
  @AfterEach
  void end() throws IOException, InterruptedException {
    for (Process process : started) {
      process.destroy();
      if (!process.waitFor(600, SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    }
    Path data = folder.resolve("state");
    if (Files.exists(data)) {
      ProgramResult purged =
          ProgramResult.run(
              folder,
              Map.of("XDG_CONFIG_HOME", folder.toString()),
              McpClientsTest.isola("purge", "--yes", "--data", data.toString())
                  .toArray(String[]::new));
      assertThat(purged.code()).as(purged.output()).isZero();
    }
  }

  private static Path python(String era) throws IOException, InterruptedException {
    return ClientPackages.python(
        PROGRAMS.resolve("requirements-" + era + ".txt"),
        Path.of("target/mcp-python-" + era).toAbsolutePath());
  }

  /** Returns the words that run a client. */
  private static List<String> client(String sdk) throws IOException, InterruptedException {
    if (sdk.startsWith("python-")) {
      String era = sdk.substring("python-".length());
      String program = PROGRAMS.resolve("hosted_client_" + era + ".py").toString();
      return List.of(python(era).toString(), "-B", program);
    }
    Path _ = ClientPackages.nodeModules(PROGRAMS, NODE);
    Path program = NODE.resolve("hosted_client.mjs"); // finds its packages next to it
    Files.copy(PROGRAMS.resolve("hosted_client.mjs"), program, StandardCopyOption.REPLACE_EXISTING);
    return List.of("node", program.toString());
  }

  /** Returns the spec of a sandbox that hosts a server, whose files it has read-only. */
  private static SandboxSpec host(String server) throws IOException, InterruptedException {
    SandboxSpec.Builder spec = SandboxSpec.builder().set("containerType", "mcp_server");
    if (server.equals("everything")) {
      Path modules = ClientPackages.nodeModules(PROGRAMS, NODE);
      spec.mount(modules.toString(), "/srv/node_modules", true);
      spec.set(
          "mcp",
          Map.of(
              "command",
              "node",
              "args",
              List.of("/srv/node_modules/@modelcontextprotocol/server-everything/dist/index.js")));
      return spec.build();
    }
    Path interpreter = python("2025");
    Path environment = interpreter.resolve("../..").normalize();
    Path home = interpreter.toRealPath().resolve("../..").normalize();
    spec.mount(environment.toString(), environment.toString(), true);
    if (!home.startsWith("/usr")) {
      spec.mount(home.toString(), home.toString(), true);
    }
    spec.seedFile("server.py", Files.readString(PROGRAMS.resolve("hosted_server.py")));
    spec.set(
        "mcp",
        Map.of(
            "command",
            interpreter.toString(),
            "args",
            List.of("-B", "/workspace/server.py"),
            "cwd",
            "/tmp",
            "env",
            Map.of("GREETING", "hi")));
    return spec.build();
  }

  private Map<String, String> env(String sdk, String server, String url, String sandbox) {
    Map<String, String> env = new HashMap<>();
    env.put("ISOLA_API_KEY", LiveServer.KEY);
    env.put("ISOLA_MCP_SDK", sdk.replace("node-", ""));
    env.put("ISOLA_MCP_HOSTED", server);
    env.put("ISOLA_MCP_URL", url + "/api/v1/sandboxes/" + sandbox + "/mcp");
    return env;
  }

  private void requireBubblewrap() throws IOException {
    E2bSdkFixture.unhealthy(folder)
        .ifPresent(reason -> abort("NOT RUN: bubblewrap is unhealthy: " + reason));
  }

  @ParameterizedTest
  @CsvSource({
    "everything, python-2025, false",
    "everything, node-client, true",
    "everything, python-2026, true",
    "everything, node-sdk, true",
    "python, python-2025, true",
    "python, python-2026, true",
    "python, node-sdk, true",
    "python, node-client, true"
  })
  void clientUsesAHostedServer(String server, String sdk, boolean onlyLong)
      throws IOException, InterruptedException {
    assumeTrue(
        !onlyLong || Boolean.getBoolean("isola.long"),
        "NOT RUN: only with ./check --long, to save time");
    requireBubblewrap();
    List<String> words = client(sdk);
    SandboxSpec spec = host(server);
    try (LiveServer live =
            LiveServer.start(
                folder.resolve("data"),
                new BubblewrapProviderFactory(),
                "allow_host_folders=true");
        Isola isola = live.client()) {
      String sandbox = isola.createAndDescribe(spec).id();
      try {
        ProgramResult ended =
            ProgramResult.run(
                folder, env(sdk, server, live.url, sandbox), words.toArray(String[]::new));
        assertThat(ended.code()).as(ended.output()).isZero();
        assertThat(ended.output()).contains("hosted ok");
      } finally {
        isola.sandbox(sandbox).destroy();
      }
    }
  }

  private Process serve(int port) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                McpClientsTest.isola(
                    "serve",
                    "--port",
                    Integer.toString(port),
                    "--data",
                    folder.resolve("state").toString(),
                    "--set",
                    "provider=bubblewrap",
                    "--set",
                    "allow_host_folders=true"))
            .redirectError(folder.resolve("err").toFile());
    builder.environment().put("ISOLA_API_KEY", LiveServer.KEY);
    builder.environment().put("XDG_CONFIG_HOME", folder.toString());
    Process process = builder.start();
    started.add(process);
    return process;
  }

  private static BufferedReader lines(Process process) {
    return new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  private static String url(Process server) throws IOException {
    String line = lines(server).readLine();
    assertThat(line).startsWith("Isola listening on ");
    return line.substring("Isola listening on ".length());
  }

  /** The process of the hosted server, and sessions of its clients, outlive the server. */
  @Test
  void hostedServerContinuesAfterIsolaWasKilled() throws Exception {
    assumeTrue(Boolean.getBoolean("isola.long"), "NOT RUN: only with ./check --long, to save time");
    requireBubblewrap();
    SandboxSpec spec = host("python");
    Process first = serve(0);
    String url = url(first);
    String sandbox;
    try (Isola isola = Isola.connect(url, LiveServer.KEY)) {
      sandbox = isola.createAndDescribe(spec).id();
    }
    List<Process> programs = new ArrayList<>();
    List<BufferedReader> outputs = new ArrayList<>();
    for (String sdk : List.of("python-2025", "python-2026")) {
      ProcessBuilder builder = new ProcessBuilder(client(sdk)).redirectErrorStream(true);
      builder.environment().putAll(env(sdk, "python", url, sandbox));
      builder.environment().put("ISOLA_MCP_PROGRAM", "restart");
      Process program = builder.start();
      started.add(program);
      programs.add(program);
      outputs.add(lines(program));
    }
    for (BufferedReader output : outputs) {
      List<String> seen = new ArrayList<>();
      for (String line = output.readLine();
          line != null && !line.equals("started");
          line = output.readLine()) {
        seen.add(line);
      }
      assertThat(seen).hasSizeLessThan(5);
    }

    first.destroyForcibly().waitFor(); // SIGKILL
    Process second = serve(URI.create(url).getPort());
    assertThat(url(second)).isEqualTo(url);

    for (int i = 0; i < programs.size(); i++) {
      programs.get(i).getOutputStream().write('\n');
      programs.get(i).getOutputStream().flush();
      List<String> rest = outputs.get(i).lines().toList();
      assertThat(programs.get(i).waitFor()).as("%s", rest).isZero();
      assertThat(rest).contains("hosted ok");
    }
  }
}
