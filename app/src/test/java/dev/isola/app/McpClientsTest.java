package dev.isola.app;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxInfo;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * M1, M2, M4: runs programs that use MCP's published SDKs, of both eras of the protocol, against
 * {@code /mcp} and {@code isola mcp}. NOT RUN if Python, Node, the SDKs or bubblewrap is not
 * available.
 */
@Timeout(180)
@Tag("all")
class McpClientsTest {
  private static final Path PROGRAMS = Path.of("../testing/mcp").toAbsolutePath().normalize();
  private static final Path NODE = Path.of("target/mcp").toAbsolutePath();

  @TempDir Path folder;
  private final List<Process> started = new ArrayList<>();

  /** Sandboxes, and the control groups of health checks of a killed server, outlive servers. */
  @AfterEach
  void end() throws IOException, InterruptedException {
    for (Process process : started) {
      process.destroy();
      if (!process.waitFor(600, SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    }
    for (String data : List.of("state", "standalone")) {
      if (Files.exists(folder.resolve(data))) {
        String[] purge =
            isola("purge", "--yes", "--data", folder.resolve(data).toString())
                .toArray(String[]::new);
        ProgramResult purged =
            ProgramResult.run(folder, Map.of("XDG_CONFIG_HOME", folder.toString()), purge);
        assertThat(purged.code()).as(purged.output()).isZero();
      }
    }
  }

  /** Returns the words that run a program with an SDK. */
  private static List<String> client(String sdk) throws IOException, InterruptedException {
    if (sdk.startsWith("python-")) {
      String era = sdk.substring("python-".length());
      Path python =
          ClientPackages.python(
              PROGRAMS.resolve("requirements-" + era + ".txt"),
              Path.of("target/mcp-python-" + era).toAbsolutePath());
      String program = PROGRAMS.resolve("client_" + era + ".py").toString();
      return List.of(python.toString(), "-B", program);
    }
    Path _ = ClientPackages.nodeModules(PROGRAMS, NODE);
    Path program = NODE.resolve("client.mjs"); // finds its packages next to it
    Files.copy(PROGRAMS.resolve("client.mjs"), program, StandardCopyOption.REPLACE_EXISTING);
    return List.of("node", program.toString());
  }

  static List<String> isola(String... args) {
    return Stream.concat(
            Stream.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Dslf4j.internal.verbosity=ERROR",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.isola.app.Main"),
            Stream.of(args))
        .toList();
  }

  private Map<String, String> env(String sdk, String program) {
    Map<String, String> env = new HashMap<>();
    env.put("ISOLA_API_KEY", LiveServer.KEY);
    env.put("ISOLA_MCP_PROGRAM", program);
    env.put("ISOLA_MCP_SDK", sdk.replace("node-", ""));
    env.put("XDG_CONFIG_HOME", folder.toString());
    if (sdk.equals("python-2026") || sdk.equals("node-client")) {
      env.put("ISOLA_MCP_SANDBOX", "tests"); // there is no session that could have one
    }
    return env;
  }

  private void requireBubblewrap() throws IOException {
    E2bSdkFixture.unhealthy(folder)
        .ifPresent(reason -> abort("NOT RUN: bubblewrap is unhealthy: " + reason));
  }

  @ParameterizedTest
  @CsvSource({
    "python-2025, http, false",
    "python-2026, http, true",
    "node-sdk, http, true",
    "node-client, http, false",
    "python-2025, stdio, false",
    "node-client, stdio, true",
    "python-2026, standalone, false"
  })
  void programsPass(String sdk, String transport, boolean onlyLong)
      throws IOException, InterruptedException {
    assumeTrue(
        !onlyLong || Boolean.getBoolean("isola.long"),
        "NOT RUN: only with ./check --long, to save time");
    requireBubblewrap();
    List<String> words = client(sdk);
    Map<String, String> env = env(sdk, "tour");
    try (LiveServer server =
        LiveServer.start(folder.resolve("data"), new BubblewrapProviderFactory())) {
      env.put("ISOLA_URL", server.url);
      if (transport.equals("stdio")) {
        env.put("ISOLA_MCP_COMMAND", String.join("\n", isola("mcp")));
      } else if (transport.equals("standalone")) {
        env.put("ISOLA_URL", "");
        String data = folder.resolve("standalone").toString();
        env.put(
            "ISOLA_MCP_COMMAND",
            String.join("\n", isola("mcp", "--data", data, "--set", "provider=bubblewrap")));
      }
      ProgramResult ended = ProgramResult.run(folder, env, words.toArray(String[]::new));
      List<SandboxInfo> left = server.client().list(SandboxFilter.ALL);
      left.forEach(sandbox -> server.client().sandbox(sandbox.id()).destroy());
      assertThat(ended.code()).as(ended.output()).isZero();
      assertThat(ended.output()).contains("tour ok");
      if (transport.equals("stdio")) {
        assertThat(left).as("the sandbox of a session ends with it").isEmpty();
      }
    }
  }

  private Process serve(int port) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                isola(
                    "serve",
                    "--port",
                    Integer.toString(port),
                    "--data",
                    folder.resolve("state").toString(),
                    "--set",
                    "provider=bubblewrap"))
            .redirectError(folder.resolve("err").toFile());
    builder.environment().put("ISOLA_API_KEY", LiveServer.KEY);
    builder.environment().put("XDG_CONFIG_HOME", folder.toString());
    Process process = builder.start();
    started.add(process);
    return process;
  }

  private static String url(Process server) throws IOException {
    String line = lines(server).readLine();
    assertThat(line).startsWith("Isola listening on ");
    return line.substring("Isola listening on ".length());
  }

  private static BufferedReader lines(Process process) {
    return new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /** A client of each era keeps its session, or has none, over the end of the server. */
  @Test
  void outputIsReadAfterTheServerWasKilled() throws Exception {
    requireBubblewrap();
    Map<String, List<String>> clients = new LinkedHashMap<>();
    for (String sdk : List.of("python-2025", "python-2026")) {
      clients.put(sdk, client(sdk));
    }
    Process first = serve(0);
    String url = url(first);
    List<Process> programs = new ArrayList<>();
    List<BufferedReader> outputs = new ArrayList<>();
    for (Map.Entry<String, List<String>> one : clients.entrySet()) {
      ProcessBuilder builder = new ProcessBuilder(one.getValue()).redirectErrorStream(true);
      builder.environment().putAll(env(one.getKey(), "restart"));
      builder.environment().put("ISOLA_URL", url);
      Process program = builder.start();
      started.add(program);
      programs.add(program);
      outputs.add(lines(program));
    }
    for (BufferedReader output : outputs) {
      assertThat(output.readLine()).isEqualTo("started");
    }

    first.destroyForcibly().waitFor(); // SIGKILL
    Process second = serve(URI.create(url).getPort());
    assertThat(url(second)).isEqualTo(url);

    for (int i = 0; i < programs.size(); i++) {
      programs.get(i).getOutputStream().write('\n');
      programs.get(i).getOutputStream().flush();
      List<String> rest = outputs.get(i).lines().toList();
      assertThat(programs.get(i).waitFor()).as("%s", rest).isZero();
      assertThat(rest).contains("restart ok");
    }
  }
}
