package dev.isola.documents;

import static java.util.function.Predicate.not;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks that the tests of all routes have the routes of every API, whatever is added. */
final class RouteTestsTest {
  private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
  private static final Path TESTS =
      ROOT.resolve("compat/e2b/src/test/java/dev/isola/compat/e2b/SandboxIdentifierTest.java");

  @Test
  void identifiersAreTriedInTheRoutesOfEveryApi() throws IOException {
    String test = Files.readString(TESTS);
    List<Path> apis;
    try (Stream<Path> files = Files.walk(ROOT)) {
      apis =
          files
              .filter(file -> file.toString().endsWith(".java"))
              .filter(file -> file.toString().contains("/src/main/java/"))
              .filter(file -> text(file).contains("implements ApiExtension"))
              .toList();
    }
    assertThat(apis).hasSizeGreaterThan(4);
    assertThat(apis.stream().filter(not(RouteTestsTest::isWithoutParameters)))
        .allSatisfy(
            file ->
                assertThat(test)
                    .contains("new " + file.getFileName().toString().replace(".java", "") + "("));
  }

  /** The configuration of the server is an API of its program, which names nothing. */
  private static boolean isWithoutParameters(Path file) {
    return file.endsWith("ConfigApi.java")
        && !text(file).contains("Parameter")
        && !text(file).contains("Body");
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
