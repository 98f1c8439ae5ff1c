package dev.isola.testing.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.isola.codec.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/**
 * Test programs for the test runner of Node.js.
 *
 * @param folder where they run, with their packages in {@code node_modules}
 * @param files the programs
 */
public record NodeTests(Path folder, List<String> files) {
  private static final Path REPORTER = TypeScriptPackage.SOURCE.resolve("test/reporter.mjs");

  private static final Duration TIMEOUT = Duration.ofMinutes(10);

  /**
   * Runs them, two files at a time.
   *
   * @param tests how many there are, so that a missing one is noticed
   */
  public Stream<DynamicTest> run(Map<String, String> env, int tests)
      throws IOException, InterruptedException {
    Path report = folder.resolve("report");
    List<String> command =
        new ArrayList<>(
            List.of(
                "node",
                "--test",
                "--test-concurrency=2",
                "--test-reporter=" + REPORTER,
                "--test-reporter-destination=" + report));
    command.addAll(files);
    ProgramResult ended = ProgramResult.run(folder, env, TIMEOUT, command.toArray(String[]::new));
    List<Map<String, Object>> results = new ArrayList<>();
    for (String line : Files.readAllLines(report)) {
      results.add(Json.parseObject(line));
    }
    boolean failed = results.stream().anyMatch(result -> result.containsKey("failure"));
    assertThat(ended.code()).as(ended.output()).isEqualTo(failed ? 1 : 0);
    List<DynamicTest> all = new ArrayList<>();
    all.add(dynamicTest("all tests ran", () -> assertThat(results).hasSize(tests)));
    for (Map<String, Object> result : results) {
      all.add(dynamicTest(result.get("file") + ": " + result.get("name"), () -> check(result)));
    }
    return all.stream();
  }

  private static void check(Map<String, Object> result) {
    if (result.get("skipped") instanceof String reason) {
      abort("NOT RUN: " + reason);
    }
    if (result.get("failure") instanceof String failure) {
      fail(failure);
    }
  }
}
