package dev.isola.app.operate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.kit.ConformanceKit;
import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

/** docs/conformance.md lists every class of the kit and every provider. */
class ConformancePageTest {
  private static final Path PAGE = Path.of("../docs/conformance.md");

  @Test
  void everyClassHasARow() throws IOException {
    assertThat(firstColumn("## The classes")).isEqualTo(ConformanceKit.groups());
  }

  @Test
  void everyProviderHasARow() throws IOException {
    List<String> providers =
        ServiceLoader.load(ProviderFactory.class).stream()
            .map(found -> found.get().name())
            .toList();
    assertThat(providers).isNotEmpty();
    assertThat(firstColumn("## Results")).containsExactlyInAnyOrderElementsOf(providers);
  }

  /** Returns the first column of the table under a heading, without the header row. */
  private static List<String> firstColumn(String title) throws IOException {
    return Files.readAllLines(PAGE).stream()
        .dropWhile(line -> !line.equals(title))
        .skip(1)
        .takeWhile(line -> !line.startsWith("## "))
        .filter(line -> line.startsWith("| "))
        .skip(1)
        .map(line -> line.substring(2, line.indexOf(" |", 2)))
        .toList();
  }
}
