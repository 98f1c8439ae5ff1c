package dev.isola.server.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileType;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FileListingTest {
  private static final int MAX = 100_000;

  private static Stream<FileInfo> files(int count, String suffix) {
    return IntStream.range(0, count)
        .mapToObj(
            i ->
                new FileInfo(
                    i + suffix,
                    FileType.FILE,
                    0644,
                    0,
                    0,
                    0,
                    "root",
                    "root",
                    Instant.EPOCH,
                    Optional.empty()));
  }

  @Test
  void filesAreLimitedByNumberAndByNames() {
    assertThat(FileListing.of(files(MAX, ""), MAX, "/a")).hasSize(MAX);
    assertThatThrownBy(() -> FileListing.of(files(MAX + 1, ""), MAX, "/a"))
        .isInstanceOf(LimitExceeded.class)
        .hasMessageContaining("in /a");
    AtomicInteger read = new AtomicInteger();
    assertThatThrownBy(
            () ->
                FileListing.of(
                    files(MAX, "n".repeat(4000)).peek(_ -> read.incrementAndGet()), MAX, "/a"))
        .isInstanceOf(LimitExceeded.class);
    assertThat(read.get()).isLessThan(MAX / 20);
  }
}
