package dev.isola.app;

import dev.isola.codec.json.Json;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.testing.HealthyProvider;
import dev.isola.testing.program.IsolaScript;
import dev.isola.testing.program.NodeTests;
import dev.isola.testing.program.TypeScriptPackage;
import dev.isola.testing.server.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A1: runs the tests of the TypeScript SDK against this server, with the package installed from its
 * tarball in a fresh folder. NOT RUN if Node.js, npm or bubblewrap is not available.
 */
@Timeout(180)
@Tag("all")
class TypeScriptSdkTest {
  /** Asserted, so that a missing test is noticed. */
  private static final int TESTS = 67;

  @TempDir static Path folder;

  @TestFactory
  Stream<DynamicTest> sdkTestsPass() throws IOException, InterruptedException {
    Path client = Files.createDirectories(folder.resolve("client"));
    TypeScriptPackage.installInto(client);
    HealthyProvider.assume(new BubblewrapProviderFactory());
    Path tests = Files.createDirectories(client.resolve("test"));
    List<String> files = new ArrayList<>();
    try (var sources = Files.list(TypeScriptPackage.SOURCE.resolve("test"))) {
      for (Path source : sources.sorted().toList()) {
        String copied = Files.copy(source, tests.resolve(source.getFileName())).toString();
        if (copied.endsWith(".test.mjs")) {
          files.add(copied);
        }
      }
    }
    try (TestServer server = TestServer.start(folder.resolve("data"), "bubblewrap")) {
      return new NodeTests(client, files).run(environment(server, client), TESTS);
    }
  }

  private static Map<String, String> environment(TestServer server, Path client)
      throws IOException, InterruptedException {
    Path programs = Files.createDirectories(folder.resolve("bin"));
    IsolaScript.addTo(programs, TestServer.classPath());
    Map<String, String> env = new HashMap<>();
    env.put("ISOLA_URL", server.url());
    env.put("ISOLA_API_KEY", server.key());
    env.put("ISOLA_TEST_COMMAND", programs.resolve("isola").toString());
    env.put("ISOLA_TEST_SOURCE", TypeScriptPackage.SOURCE.toString());
    env.put("ISOLA_TEST_CODES", Json.text(codes()));
    env.put("NODE_OPTIONS", TypeScriptPackage.nodeOptions(client));
    return env;
  }

  private static Map<String, Object> codes() {
    Map<String, Object> classes = new TreeMap<>();
    for (ErrorCode code : ErrorCode.values()) {
      classes.put(code.name(), Fault.of(code, "", "").exception().getClass().getSimpleName());
    }
    return classes;
  }
}
