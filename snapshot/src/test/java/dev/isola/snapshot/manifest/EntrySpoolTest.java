package dev.isola.snapshot.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.LimitExceeded;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class EntrySpoolTest {
  private static final int MANY = 100_000;

  @TempDir Path folder;
  private final ByteBudget budget = new ByteBudget("names", 64 << 20, "none", Optional.empty());

  private static SnapshotEntry entry(String path) {
    return new SnapshotEntry(
        path, SnapshotEntry.Kind.FILE, "", 0644, 1, 2, 3, 4, 5, Map.of(), List.of());
  }

  @Test
  void findsEveryEntryByItsKeyAndNoOther() throws IOException {
    try (EntrySpool spool = new EntrySpool(folder, budget, 16 << 20)) {
      spool.add("", entry("without a key"));
      for (int i = 0; i < MANY; i++) {
        spool.add("key" + i, entry("path" + i));
      }
      assertThat(spool.buildIndex()).isTrue();
      for (int i = 0; i < MANY; i++) {
        assertThat(spool.find("key" + i)).contains(entry("path" + i));
        assertThat(spool.find("none" + i)).isEmpty();
      }
    }
  }

  /** With a chain of all of them, this would take minutes. */
  @Test
  void aKeyThatASandboxRepeatsIsFoundAtOnce() throws IOException {
    try (EntrySpool spool = new EntrySpool(folder, budget, 16 << 20)) {
      for (int i = 0; i < MANY; i++) {
        spool.add("same", entry("path" + i));
      }
      assertThat(spool.buildIndex()).isTrue();
      for (int i = 0; i < MANY; i++) {
        assertThat(spool.find("same")).contains(entry("path" + (MANY - 1)));
      }
    }
  }

  @Test
  void anIndexThatDoesNotFitIsNotBuilt() throws IOException {
    try (EntrySpool spool = new EntrySpool(folder, budget, 1 << 10)) {
      for (int i = 0; i < 1000; i++) {
        spool.add("key" + i, entry("path" + i));
      }
      assertThat(spool.buildIndex()).isFalse();
      assertThat(spool.find("key1")).isEmpty();
    }
  }

  /** A capture is interrupted when its client leaves, or when it stalls while others wait. */
  @Test
  void bytesAreReturnedAfterAnInterruption() throws IOException {
    ByteBudget small = new ByteBudget("names", 10_000, "none", Optional.empty());
    try (EntrySpool spool = new EntrySpool(folder, small, 1 << 20)) {
      spool.add("", entry("n".repeat(5_000)));
      Thread.currentThread().interrupt();
      assertThatThrownBy(spool::rows).isInstanceOf(ClosedByInterruptException.class);
      assertThat(Thread.interrupted()).isTrue();
    }
    small.reserve(10_000);
  }

  @Test
  void bytesThatTheSharedBudgetRefusesAreNotTaken() {
    ByteBudget all = new ByteBudget("all names", 100, "none", Optional.empty());
    ByteBudget one = new ByteBudget("names", 150, "none", Optional.of(all));
    assertThatThrownBy(() -> one.reserve(101))
        .isInstanceOf(LimitExceeded.class)
        .hasMessageContaining("all names");
    one.reserve(100);
    one.release(100);
    all.reserve(100);
  }

  @Test
  void bytesAreReturnedAndNoFileIsLeft() throws IOException {
    ByteBudget small = new ByteBudget("names", 10_000, "none", Optional.empty());
    for (int i = 0; i < 3; i++) {
      try (EntrySpool spool = new EntrySpool(folder, small, 1 << 20)) {
        assertThatThrownBy(
                () -> {
                  for (int j = 0; j < 1000; j++) {
                    spool.add("", entry("path" + j));
                  }
                })
            .isInstanceOf(LimitExceeded.class);
        try (Stream<Path> files = Files.list(folder)) {
          assertThat(files).isEmpty();
        }
      }
    }
    small.reserve(10_000);
  }
}
