package dev.isola.server.error;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.error.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** E2: docs/errors.md lists every code with its properties. */
class ErrorStatusTest {

  @Test
  void everyErrorCodeIsDocumented() throws IOException {
    List<String> rows =
        Files.readAllLines(Path.of("..", "docs", "errors.md")).stream()
            .filter(line -> line.startsWith("| `"))
            .map(line -> line.substring(0, line.lastIndexOf('|', line.length() - 2)).strip())
            .toList();

    assertThat(rows)
        .containsExactlyElementsOf(
            Stream.of(ErrorCode.values()).map(ErrorStatusTest::row).toList());
  }

  private static String row(ErrorCode code) {
    return "| `%s` | %d | %s | %s | %s"
        .formatted(
            code,
            ErrorStatus.of(code),
            code.category(),
            word(code.allowsFallback()),
            word(code.isRetryable()));
  }

  private static String word(boolean yes) {
    return yes ? "yes" : "no";
  }
}
