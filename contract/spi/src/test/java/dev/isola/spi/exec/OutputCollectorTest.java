package dev.isola.spi.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.isola.spi.Bytes;
import dev.isola.spi.Generator;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Output is retained in bounded memory: head, tail and exact counts. */
class OutputCollectorTest {

  static LongStream seeds() {
    return Generator.seeds(500);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void matchesTheReferenceModel(long seed) {
    Generator any = new Generator(seed);
    matchesModel(any.list(0, 40, () -> any.bytes(30)), any.between(0, 64), any.between(0, 64));
  }

  /** Chunks and limits around the sizes at which the buffers grow. */
  @ParameterizedTest
  @MethodSource("seeds")
  void matchesTheReferenceModelForLargeChunks(long seed) {
    Generator any = new Generator(seed);
    matchesModel(
        any.list(0, 12, () -> counting(any.between(0, 5000))),
        any.between(0, 5000),
        any.between(0, 5000));
  }

  private static void matchesModel(List<byte[]> pieces, int head, int tail) {
    OutputCollector collector = new OutputCollector(new OutputLimit(head, tail));
    ByteArrayOutputStream model = new ByteArrayOutputStream();
    for (byte[] piece : pieces) {
      collector.add(Bytes.of(piece));
      model.writeBytes(piece);

      byte[] all = model.toByteArray();
      int headEnd = Math.min(head, all.length);
      int tailStart = Math.max(headEnd, all.length - tail);
      assertThat(collector.captured())
          .isEqualTo(
              new CapturedOutput(
                  Bytes.of(Arrays.copyOf(all, headEnd)),
                  Bytes.of(Arrays.copyOfRange(all, tailStart, all.length)),
                  all.length));
    }
  }

  private static byte[] counting(int size) {
    byte[] bytes = new byte[size];
    for (int i = 0; i < size; i++) {
      bytes[i] = (byte) i;
    }
    return bytes;
  }

  @Test
  void emptyOutputIsEmpty() {
    CapturedOutput captured = new OutputCollector(OutputLimit.DEFAULT).captured();

    assertThat(captured).isEqualTo(new CapturedOutput(Bytes.utf8(""), Bytes.utf8(""), 0));
    assertThat(captured.truncated()).isFalse();
    assertThat(captured.text()).isEmpty();
  }

  @Test
  void outputBeforeAGapIsHeadAndAfterItTail() {
    OutputCollector collector = new OutputCollector(new OutputLimit(4, 4));
    collector.add(Bytes.utf8("ab"));
    collector.addLost(0);
    collector.add(Bytes.utf8("cdefg"));
    collector.addLost(10);
    collector.add(Bytes.utf8("hi"));

    CapturedOutput captured = collector.captured();
    assertThat(captured).isEqualTo(new CapturedOutput(Bytes.utf8("abcd"), Bytes.utf8("hi"), 19));
    assertThat(captured.omitted()).isEqualTo(13);
  }

  @Test
  void gapClosesAnIncompleteHead() {
    OutputCollector collector = new OutputCollector(new OutputLimit(4, 4));
    collector.add(Bytes.utf8("ab"));
    collector.addLost(5);
    collector.add(Bytes.utf8("xyz"));

    assertThat(collector.captured().text()).isEqualTo("ab\n[... 5 bytes omitted ...]\nxyz");
  }

  @Test
  void textReportsOmittedBytes() {
    OutputCollector collector = new OutputCollector(new OutputLimit(3, 3));
    collector.add(Bytes.utf8("abcdef"));
    assertThat(collector.captured().text()).isEqualTo("abcdef");
    assertThat(collector.captured().truncated()).isFalse();

    collector.add(Bytes.utf8("g"));
    assertThat(collector.captured().text()).isEqualTo("abc\n[... 1 bytes omitted ...]\nefg");
    assertThat(collector.captured().truncated()).isTrue();
  }

  @Test
  void aCharacterCutBetweenHeadAndTailIsWhole() {
    OutputCollector collector = new OutputCollector(new OutputLimit(1, 10));
    collector.add(Bytes.utf8("é!"));

    assertThat(collector.captured().text()).isEqualTo("é!");
  }

  @Test
  void limitsAreBounded() {
    assertThat(new OutputLimit(0, 512 * 1024 * 1024).tail()).isEqualTo(512 * 1024 * 1024);
    assertThatIllegalArgumentException().isThrownBy(() -> new OutputLimit(-1, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> new OutputLimit(0, -1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new OutputLimit(512 * 1024 * 1024 + 1, 0));
  }
}
