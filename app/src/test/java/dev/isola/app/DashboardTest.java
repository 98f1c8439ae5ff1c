package dev.isola.app;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.isola.testing.program.ClientPackages;
import dev.isola.testing.program.IsolaScript;
import dev.isola.testing.program.NodeTests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * D: drives the dashboard in a real Chromium, against a real server with bubblewrap. NOT RUN if
 * Chromium, Node.js, npm or bubblewrap is not available. With {@code ISOLA_TEST_SCREENSHOTS}, a
 * folder, every page is also saved as a picture.
 */
@Timeout(300)
@Tag("all")
class DashboardTest {
  /** Asserted, so that a missing test is noticed. */
  private static final int TESTS = 37;

  private static final String SCREENSHOTS = "ISOLA_TEST_SCREENSHOTS";
  private static final Path PROGRAMS =
      Path.of("../dashboard/src/test/browser").toAbsolutePath().normalize();
  private static final Path PACKAGES = Path.of("target/dashboard").toAbsolutePath();

  @TempDir static Path folder;

  @TestFactory
  Stream<DynamicTest> pagesWorkInABrowser() throws IOException, InterruptedException {
    String chromium = chromium();
    Path modules = ClientPackages.nodeModules(PROGRAMS, PACKAGES);
    E2bSdkFixture.unhealthy(folder)
        .ifPresent(reason -> abort("NOT RUN: bubblewrap is unhealthy: " + reason));
    Path tests = Files.createDirectories(folder.resolve("tests"));
    Files.createSymbolicLink(tests.resolve("node_modules"), modules);
    try (Stream<Path> sources = Files.list(PROGRAMS)) {
      for (Path source : sources.filter(one -> one.toString().endsWith(".mjs")).toList()) {
        Files.copy(source, tests.resolve(source.getFileName()));
      }
    }
    List<String> files;
    try (Stream<Path> copies = Files.list(tests)) {
      files = copies.map(Path::toString).filter(one -> one.endsWith(".test.mjs")).sorted().toList();
    }
    try (LiveServer server = E2bSdkFixture.startServer(folder)) {
      Map<String, String> env = environment(server, chromium);
      int more = env.containsKey(SCREENSHOTS) ? 1 : 0; // a view for pictures only
      return new NodeTests(tests, files).run(env, TESTS + more);
    }
  }

  private static Map<String, String> environment(LiveServer server, String chromium)
      throws IOException {
    Path programs = Files.createDirectories(folder.resolve("bin"));
    IsolaScript.addTo(programs);
    Map<String, String> env = new HashMap<>();
    // Chromium keeps cookies apart by the name of the host; previews are beneath this one.
    env.put("ISOLA_URL", server.url.replace("127.0.0.1", "localhost"));
    env.put("ISOLA_API_KEY", LiveServer.KEY);
    env.put("ISOLA_TEST_CHROMIUM", chromium);
    env.put("ISOLA_TEST_COMMAND", programs.resolve("isola").toString());
    String pictures = System.getenv(SCREENSHOTS);
    if (pictures != null) {
      env.put(SCREENSHOTS, pictures);
    }
    return env;
  }

  private static String chromium() {
    return Stream.of("chromium", "chromium-browser", "google-chrome")
        .flatMap(name -> Stream.of(System.getenv("PATH").split(":")).map(one -> Path.of(one, name)))
        .filter(Files::isExecutable)
        .map(Path::toString)
        .findFirst()
        .orElseGet(() -> abort("NOT RUN: there is no Chromium (apt-get install chromium)"));
  }
}
