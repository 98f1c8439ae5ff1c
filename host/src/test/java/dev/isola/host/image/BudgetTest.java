package dev.isola.host.image;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.codec.tar.TarEntry;
import dev.isola.spi.error.LimitExceeded;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
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
