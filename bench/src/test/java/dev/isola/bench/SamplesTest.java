package dev.isola.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class SamplesTest {
  private static final long MS = 1_000_000;

  @Test
  void medianIsTheMiddleValueOrTheMeanOfTwo() {
    assertThat(Samples.of(1, 9 * MS, MS, 5 * MS).medianMs()).isEqualTo(5.0);
    assertThat(Samples.of(1, 9 * MS, MS, 5 * MS, 7 * MS).medianMs()).isEqualTo(6.0);
    assertThat(Samples.of(1, 4 * MS).medianMs()).isEqualTo(4.0);
  }

  @Test
  void p99IsTheNearestRank() {
    long[] hundred = LongStream.rangeClosed(1, 100).map(i -> i * MS).toArray();
    assertThat(Samples.of(1, hundred).p99Ms()).isEqualTo(99.0);
    assertThat(Samples.of(1, 3 * MS, MS).p99Ms()).isEqualTo(3.0);
    long[] many = LongStream.rangeClosed(1, 1000).map(i -> i * MS).toArray();
    assertThat(Samples.of(1, many).p99Ms()).isEqualTo(990.0);
  }

  @Test
  void p90IsTheNearestRank() {
    long[] ten = LongStream.rangeClosed(1, 10).map(i -> i * MS).toArray();
    assertThat(Samples.of(1, ten).p90Ms()).isEqualTo(9.0);
    assertThat(Samples.of(1, 3 * MS).p90Ms()).isEqualTo(3.0);
    assertThatThrownBy(Samples.NONE::p90Ms).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void cleanupIsCountedSeparately() {
    Samples both =
        Samples.of(5 * MS, 5 * MS).withAfter(MS).plus(Samples.of(7 * MS, 7 * MS).withAfter(3 * MS));
    assertThat(both.medianMs()).isEqualTo(6.0);
    assertThat(both.wallNanos()).isEqualTo(12 * MS);
    assertThat(both.cleanupSamples().count()).isEqualTo(2);
    assertThat(both.cleanupSamples().medianMs()).isEqualTo(2.0);
    assertThat(both.cleanupSamples().wallNanos()).isEqualTo(4 * MS);
    assertThat(Samples.of(1, 1).cleanupSamples().count()).isZero();
  }

  @Test
  void rateUsesWallTime() {
    Samples twoAtOnce = Samples.of(500 * MS, 500 * MS, 500 * MS);
    assertThat(twoAtOnce.perSecond(1)).isEqualTo(4.0);
    assertThat(twoAtOnce.perSecond(1024)).isEqualTo(4096.0);
  }

  @Test
  void roundsAddUp() {
    Samples both = Samples.of(10, 3 * MS).plus(Samples.of(20, MS, 2 * MS));
    assertThat(both.count()).isEqualTo(3);
    assertThat(both.medianMs()).isEqualTo(2.0);
    assertThat(both.wallNanos()).isEqualTo(30);
    assertThatThrownBy(Samples.NONE::medianMs).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void parsesTheOutputOfTheRawProgram() throws IOException {
    Samples samples = RawProgram.parse("2000000\n4000000\nwall 6000000\n");
    assertThat(samples.medianMs()).isEqualTo(3.0);
    assertThat(samples.wallNanos()).isEqualTo(6_000_000);
    assertThatThrownBy(() -> RawProgram.parse("2000000\n"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("did not finish");
    assertThatThrownBy(() -> RawProgram.parse("oops\n")).isInstanceOf(IOException.class);
  }
}
