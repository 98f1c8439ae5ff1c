package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.isola.client.Isola;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxInfo;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.spi.error.ErrorCode;
import dev.isola.testing.HealthyProvider;
import dev.isola.testing.program.IsolaScript;
import dev.isola.testing.program.ProgramResult;
import dev.isola.testing.program.PythonPackage;
import dev.isola.testing.server.TestServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A1: the tests of the Python SDK, run with the installed wheel against a real server. Each test in
 * Python is one test here. NOT RUN if Python, venv or the package registry is not available.
 */
@Timeout(180)
@Tag("all")
class PythonSdkTest {
  /** A test that is no longer found must be noticed. */
  private static final int LEAST_TESTS = 30;

  @TempDir static Path folder;
  private static TestServer server;
  private static Path python;

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    python = PythonPackage.interpreter();
    server =
        HealthyProvider.isUsable(new BubblewrapProviderFactory())
            ? TestServer.start(folder.resolve("data"), "bubblewrap", "shutdown=drain")
            : TestServer.start(folder.resolve("data"), "subprocess");
  }

  @AfterAll
  static void end() {
    if (server != null) {
      server.close();
    }
  }

  @TestFactory
  Stream<DynamicTest> pythonTests() throws IOException, InterruptedException {
    Path results = folder.resolve("results.jsonl");
    ProgramResult run =
        ProgramResult.run(
            PythonPackage.SOURCES.resolve("tests"),
            environment(),
            python.toString(),
            "-B",
            "run_tests.py",
            results.toString());
    List<Map<?, ?>> tests = Files.exists(results) ? read(results) : List.of();
    List<String> left;
    try (Isola isola = Isola.connect(server.url(), server.key())) {
      left =
          isola.list(SandboxFilter.ALL).stream()
              .filter(sandbox -> !sandbox.tags().containsKey("isola.volume"))
              .map(SandboxInfo::id)
              .toList();
    }
    return Stream.concat(
        Stream.of(
            dynamicTest(
                "all tests ran",
                () -> {
                  assertThat(tests).as(run.output()).hasSizeGreaterThanOrEqualTo(LEAST_TESTS);
                  assertThat(run.output()).endsWith("\nended\n");
                  assertThat(left).as("sandboxes that the tests left").isEmpty();
                })),
        tests.stream().map(PythonSdkTest::result));
  }

  private static DynamicTest result(Map<?, ?> test) {
    return dynamicTest(
        String.valueOf(test.get("name")),
        () -> {
          if ("skipped".equals(test.get("outcome"))) {
            abort("NOT RUN: " + test.get("detail"));
          }
          assertThat(test.get("outcome"))
              .as(String.valueOf(test.get("detail")))
              .isEqualTo("passed");
        });
  }

  private static List<Map<?, ?>> read(Path results) throws IOException {
    return Files.readAllLines(results).stream()
        .<Map<?, ?>>map(
            line -> {
              try {
                return (Map<?, ?>) Json.parse(line);
              } catch (MalformedJson e) {
                throw new AssertionError(line, e);
              }
            })
        .toList();
  }

  private static Map<String, String> environment() throws IOException {
    Map<String, String> variables = new LinkedHashMap<>();
    variables.put("ISOLA_URL", server.url());
    variables.put("ISOLA_API_KEY", server.key());
    variables.put(
        "ISOLA_TEST_CODES",
        Stream.of(ErrorCode.values()).map(Enum::name).collect(Collectors.joining(",")));
    Path programs = Files.createDirectories(folder.resolve("bin"));
    IsolaScript.addTo(programs, TestServer.classPath());
    variables.put("ISOLA_TEST_COMMAND", programs.resolve("isola").toString());
    return variables;
  }

  @Test
  void generatedModelsAreThoseOfTheOpenApiDocument() throws IOException, InterruptedException {
    Path document = folder.resolve("openapi.json");
    try (HttpClient http = HttpClient.newHttpClient()) {
      http.send(
          HttpRequest.newBuilder(URI.create(server.url() + "/api/v1/openapi.json")).build(),
          BodyHandlers.ofFile(document));
    }
    tool("tools/generate_models.py", "--check", document.toString());
  }

  @Test
  void synchronousClientIsGeneratedFromTheAsynchronousOne()
      throws IOException, InterruptedException {
    tool("tools/generate_sync.py", "--check");
  }

  @Test
  void typesAreStrict() throws IOException, InterruptedException {
    String cache = PythonPackage.ENVIRONMENT.resolve("mypy").toString();
    tool("-m", "mypy", "--no-error-summary", "--cache-dir", cache);
  }

  @Test
  void wheelAndSourceArchiveAreReproducible() throws IOException, InterruptedException {
    List<Path> first = PythonPackage.build(folder.resolve("first"));
    List<Path> second = PythonPackage.build(folder.resolve("second"));
    assertThat(first).hasSize(2);
    for (int i = 0; i < first.size(); i++) {
      assertThat(first.get(i)).hasSameBinaryContentAs(second.get(i));
    }
  }

  private static void tool(String... arguments) throws IOException, InterruptedException {
    String[] command =
        Stream.concat(Stream.of(python.toString(), "-B"), Stream.of(arguments))
            .toArray(String[]::new);
    ProgramResult ended = ProgramResult.run(PythonPackage.SOURCES, Map.of(), command);
    assertThat(ended.code()).as(ended.output()).isZero();
  }
}
