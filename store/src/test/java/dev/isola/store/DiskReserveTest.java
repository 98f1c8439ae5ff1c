package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskReserveTest {
  private static final int SLICES = DiskReserve.SLICES;

  @TempDir Path folder;

  private Path reserved() {
    return folder.resolve(DiskReserve.FOLDER);
  }

  private List<Path> slices() throws IOException {
    try (Stream<Path> all = Files.list(reserved())) {
      return all.toList();
    }
  }

  private static long allocated(Path file) throws IOException, InterruptedException {
    Process stat = new ProcessBuilder("stat", "-c", "%b", file.toString()).start();
    String blocks = new String(stat.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(stat.waitFor()).isZero();
    return Long.parseLong(blocks.strip()) * 512;
  }

  @Test
  void reserveHasBlocks() throws IOException, InterruptedException {
    DiskReserve reserve = DiskReserve.open(List.of(folder));
    assertThat(slices()).hasSize(SLICES);
    for (Path slice : slices()) {
      assertThat(allocated(slice)).isGreaterThanOrEqualTo(DiskReserve.SLICE);
    }
    assertThat(reserve.isIncomplete()).isFalse();
    assertThat(reserve.isForFreeingOnly()).isFalse();
  }

  @Test
  void slicesAreGivenUpAndFilledUp() throws IOException {
    DiskReserve reserve = DiskReserve.open(List.of(folder));
    for (int i = 1; i <= SLICES; i++) {
      assertThat(reserve.draw()).isTrue();
      assertThat(slices()).hasSize(SLICES - i);
      assertThat(reserve.isIncomplete()).isTrue();
      assertThat(reserve.isForFreeingOnly()).isTrue();
    }
    assertThat(reserve.draw()).isFalse();
    assertThat(reserve.refill()).isTrue();
    assertThat(slices()).hasSize(SLICES);
    assertThat(reserve.isForFreeingOnly()).isFalse();
  }

  @Test
  void recordsLeaveHalfOfIt() throws IOException {
    DiskReserve reserve = DiskReserve.open(List.of(folder));
    int slices = 0;
    while (reserve.drawForRecords()) {
      slices++;
    }
    assertThat(slices).isEqualTo(SLICES / 2);
    assertThat(reserve.draw()).isTrue();
  }

  @Test
  void blocksAreAllocatedInPlaceWithoutAChangeOfTheLength()
      throws IOException, InterruptedException {
    DiskReserve reserve = DiskReserve.open(List.of(folder));
    Path first = Files.write(folder.resolve("first"), new byte[10_000]);
    reserve.keepAllocated(first, 1 << 20);
    Path last = Files.write(folder.resolve("last"), new byte[1 << 20]);
    reserve.keepAllocatedAfterEnd(last, 1 << 20);
    Files.write(first, new byte[10_000], StandardOpenOption.APPEND);
    assertThat(Files.size(first)).isEqualTo(20_000);
    assertThat(Files.size(last)).isEqualTo(1 << 20);
    assertThat(allocated(first)).isGreaterThanOrEqualTo(1 << 20);
    assertThat(allocated(last)).isGreaterThanOrEqualTo(2 << 20);
    reserve.keepAllocated(folder.resolve("none"), 1 << 20);
    assertThat(folder.resolve("none")).doesNotExist();
  }

  @Test
  void foldersOnOneFileSystemShareTheReserve() throws IOException {
    Path other = Files.createDirectory(folder.resolve("other"));
    DiskReserve _ = DiskReserve.open(List.of(folder, other));
    assertThat(slices()).hasSize(SLICES);
    assertThat(other.resolve(DiskReserve.FOLDER)).doesNotExist();
  }

  @Test
  void removedFilesAreMadeAgain() throws IOException {
    DiskReserve reserve = DiskReserve.open(List.of(folder));
    for (Path slice : slices()) {
      Files.delete(slice);
    }
    Files.delete(reserved());
    assertThat(reserve.draw()).isFalse();
    assertThat(reserve.isIncomplete()).isTrue();
    assertThat(reserve.refill()).isTrue();
    assertThat(slices()).hasSize(SLICES);
  }

  @Test
  void noReserveNeverRefuses() {
    assertThat(DiskReserve.NONE.draw()).isFalse();
    assertThat(DiskReserve.NONE.isForFreeingOnly()).isFalse();
    assertThat(DiskReserve.NONE.refill()).isTrue();
  }
}
