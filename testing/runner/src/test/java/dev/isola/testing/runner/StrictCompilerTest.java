package dev.isola.testing.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Error Prone and NullAway find planted faults, in main code and in tests. */
final class StrictCompilerTest {
  private static final String CLASS_PATH = System.getProperty("java.class.path");

  @TempDir Path repository;

  @Test
  void plantedFaultsAreFoundAndCleanCodePasses() throws IOException, InterruptedException {
    source("clean", "main", "String name() { return \"\"; }");
    source("unused", "main", "void wrong() { int unused = 1; }");
    source("nulls", "main", "String wrong() { return null; }");
    source("nulls", "test", "String wrong() { return null; }");
    List<TestResult> results = new ArrayList<>();
    TestScheduler scheduler =
        new TestScheduler(
            1,
            repository,
            module ->
                Check.strictCommand(
                    Path.of(System.getProperty("java.home")), repository, CLASS_PATH, true),
            one -> results.addAll(one.results()));
    Module strict = new Module("strict", repository, Set.of(), Set.of(), 1, List.of(), List.of());
    List<Thread> threads = scheduler.start();
    for (String name : List.of("clean", "unused", "nulls", "nulls" + Suite.TESTS)) {
      scheduler.add(List.of(Suite.ofClass(strict, name, 1)));
    }
    scheduler.complete();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(problems(results, "clean")).isEmpty();
    assertThat(problems(results, "unused")).contains("UnnamedVariable");
    assertThat(problems(results, "nulls")).contains("NullAway");
    assertThat(problems(results, "nulls" + Suite.TESTS)).contains("NullAway");
  }

  private static String problems(List<TestResult> results, String name) {
    return results.stream()
        .filter(one -> one.suite().equals(name))
        .map(TestResult::reason)
        .findFirst()
        .orElse("no result");
  }

  private void source(String module, String kind, String body) throws IOException {
    Path folder =
        Files.createDirectories(repository.resolve(module + "/src/" + kind + "/java/dev/isola"));
    Files.writeString(
        folder.resolve("Source.java"),
        "package dev.isola;\n@org.jspecify.annotations.NullMarked\nfinal class Source {\n"
            + "  private Source() {}\n\n  static "
            + body
            + "\n}\n");
    Files.createDirectories(repository.resolve(module + "/target/check"));
    Files.writeString(repository.resolve(module + "/target/check/classpath"), CLASS_PATH);
  }
}
