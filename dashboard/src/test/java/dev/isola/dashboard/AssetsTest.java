package dev.isola.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.codec.digest.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The files of the dashboard are complete, and those of other projects unchanged. */
class AssetsTest {
  private static final Path SOURCES = Path.of("src/main/resources/dev/isola/dashboard");

  private static List<String> names(String folder) throws IOException {
    try (Stream<Path> files = Files.list(SOURCES.resolve(folder))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.matches(".*\\.(js|mjs|css|svg)"))
          .sorted()
          .toList();
    }
  }

  @Test
  void everyFileIsServed() throws IOException {
    assertThat(Files.readAllLines(SOURCES.resolve("web/files.txt")))
        .containsExactlyElementsOf(names("web"));
    assertThat(new Assets().files().keySet())
        .containsAll(names("web"))
        .containsAll(names("vendor"));
  }

  @Test
  void filesOfOthersHaveTheirChecksums() throws IOException {
    List<String> lines = Files.readAllLines(SOURCES.resolve("vendor/SHA256SUMS"));
    assertThat(lines).hasSameSizeAs(names("vendor"));
    for (String line : lines) {
      String[] parts = line.split(" +");
      byte[] content = Files.readAllBytes(SOURCES.resolve("vendor").resolve(parts[1]));
      assertThat(Sha256.hex(content)).as(parts[1]).isEqualTo(parts[0]);
    }
  }

  @Test
  void onlyFilesOfThisBuildAreFound() {
    Assets assets = new Assets();
    assertThat(assets.find(assets.build(), "main.js")).isPresent();
    assertThat(assets.find("other", "main.js")).isEmpty();
    assertThat(assets.find(assets.build(), "../web/main.js")).isEmpty();
    assertThat(assets.find(assets.build(), "index.html")).isEmpty();
  }

  @Test
  void pagesWriteNoHtml() throws IOException {
    for (String name : names("web")) {
      assertThat(Files.readString(SOURCES.resolve("web").resolve(name)))
          .as(name)
          .doesNotContain("innerHTML", "dangerouslySetInnerHTML", "insertAdjacentHTML", "eval(");
    }
  }
}
