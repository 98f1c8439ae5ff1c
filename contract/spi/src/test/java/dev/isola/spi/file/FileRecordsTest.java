package dev.isola.spi.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FileRecordsTest {

  @ParameterizedTest
  @CsvSource({"/a/b.txt,b.txt", "b.txt,b.txt", "/a/b/,b", "/,''", "/a,a"})
  void aFileIsNamedByTheLastPartOfItsPath(String path, String name) {
    FileInfo info =
        new FileInfo(
            path, FileType.FILE, 0644, 0, 0, 0, "root", "root", Instant.EPOCH, Optional.empty());

    assertThat(info.name()).isEqualTo(name);
  }

  @Test
  void appendingIsNeitherAtomicNorExclusive() {
    assertThat(WriteOptions.DEFAULT.onlyNew().appending())
        .isEqualTo(new WriteOptions(Optional.empty(), false, false, true, false));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new WriteOptions(Optional.empty(), true, false, true, false));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new WriteOptions(Optional.empty(), false, true, true, false));
  }

  @Test
  void writeOptionsCombine() {
    assertThat(WriteOptions.DEFAULT.withMode(0600).onlyNew().synced())
        .isEqualTo(new WriteOptions(Optional.of(0600), true, true, false, true));
    assertThat(WriteOptions.DEFAULT.inPlace().atomic()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 07777})
  void aModeHasTwelveBits(int mode) {
    assertThat(WriteOptions.DEFAULT.withMode(mode).mode()).contains(mode);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 010000})
  void otherModesAreRefused(int mode) {
    assertThatIllegalArgumentException().isThrownBy(() -> WriteOptions.DEFAULT.withMode(mode));
  }

  @Test
  void aRangeIsNotNegative() {
    assertThat(ReadRange.ALL).isEqualTo(new ReadRange(0, Long.MAX_VALUE));
    assertThatIllegalArgumentException().isThrownBy(() -> new ReadRange(-1, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> new ReadRange(0, -1));
  }
}
