package dev.isola.host.image;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.codec.tar.TarEntry;
import dev.isola.spi.error.LimitExceeded;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Names and attributes of an image are in memory, and an archive can have any number of them. */
class BudgetTest {
  private static final long ATTRIBUTE = 1 << 20;

  private static void take(Budget budget, long bytes) {
    for (long taken = 0; taken < bytes; taken += ATTRIBUTE) {
      budget.takeText(ATTRIBUTE);
    }
  }

  @Test
  void namesAndAttributesAreLimited() {
    try (Budget budget = new Budget(ImageLimits.DEFAULT)) {
      take(budget, Budget.MAX_TEXT / 2);
      assertThatThrownBy(() -> take(budget, Budget.MAX_TEXT))
          .isInstanceOf(LimitExceeded.class)
          .hasMessageContaining("names of the files of the image");
    }
  }

  /** One entry of 4 KB can have 2,000 parents that the archive does not name. */
  @Test
  void namesOfParentsAreLimitedToo(@TempDir Path folder) throws IOException {
    try (Budget budget = new Budget(ImageLimits.DEFAULT, 100_000);
        RootfsTree tree = new RootfsTree(folder);
        Unpacker unpacker = new Unpacker(tree, false, budget, new ImportWarnings())) {
      TarEntry deep =
          new TarEntry(
              "a/".repeat(300) + "f", TarEntry.Kind.FILE, "", 0644, 0, 0, 0, 0, 0, Map.of());
      assertThatThrownBy(() -> unpacker.put(deep, InputStream.nullInputStream()))
          .isInstanceOf(LimitExceeded.class);
    }
  }

  /** Names of entries, whether they are there already or not, and attributes of folders. */
  @Test
  void whatIsRememberedOfAnEntryCounts(@TempDir Path folder) throws IOException {
    Map<String, byte[]> attribute = Map.of("user.a", new byte[2000]);
    TarEntry attributes =
        new TarEntry("d", TarEntry.Kind.FOLDER, "", 0755, 0, 0, 0, 0, 0, attribute);
    TarEntry name =
        new TarEntry("n".repeat(200), TarEntry.Kind.FILE, "", 0644, 0, 0, 0, 0, 0, Map.of());
    for (TarEntry entry : List.of(attributes, name)) {
      try (Budget budget = new Budget(ImageLimits.DEFAULT, 10_000);
          RootfsTree tree = new RootfsTree(Files.createTempDirectory(folder, "root"));
          Unpacker unpacker = new Unpacker(tree, false, budget, new ImportWarnings())) {
        assertThatThrownBy(
                () -> {
                  for (int i = 0; i < 35; i++) {
                    unpacker.put(entry, InputStream.nullInputStream());
                  }
                })
            .as(entry.path())
            .isInstanceOf(LimitExceeded.class);
      }
    }
  }

  @Test
  void namesOfAllImagesAreLimitedTogether() {
    long most = Budget.MAX_TEXT * 9 / 10;
    try (Budget one = new Budget(ImageLimits.DEFAULT);
        Budget other = new Budget(ImageLimits.DEFAULT)) {
      take(one, most);
      assertThatThrownBy(() -> take(other, most))
          .isInstanceOf(LimitExceeded.class)
          .hasMessageContaining("all images");
    }
    try (Budget next = new Budget(ImageLimits.DEFAULT)) {
      take(next, most); // Both have returned what they took.
    }
  }
}
