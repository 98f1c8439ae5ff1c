package dev.isola.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class BytesTest {

  static LongStream seeds() {
    return Generator.seeds(200);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void keepsItsContent(long seed) {
    byte[] content = new Generator(seed).bytes(300);
    Bytes bytes = Bytes.of(content);

    assertThat(bytes.toArray()).isEqualTo(content);
    assertThat(bytes.size()).isEqualTo(content.length);
    assertThat(bytes).isEqualTo(Bytes.of(content)).hasSameHashCodeAs(Bytes.of(content));
  }

  @Test
  void cannotBeChangedFromOutside() {
    byte[] content = {1, 2, 3};
    Bytes bytes = Bytes.of(content);
    content[0] = 9;
    bytes.toArray()[1] = 9;

    assertThat(bytes.toArray()).containsExactly(1, 2, 3);
  }

  @Test
  void differsByContent() {
    assertThat(Bytes.utf8("a")).isNotEqualTo(Bytes.utf8("b")).isNotEqualTo("a");
  }

  @Test
  void decodesUtf8AndReplacesMalformedBytes() {
    assertThat(Bytes.utf8("grüße €").utf8()).isEqualTo("grüße €");
    assertThat(Bytes.of(new byte[] {'a', (byte) 0xff, 'b'}).utf8()).isEqualTo("a\ufffdb");
  }

  @Test
  void printsItsSizeOnly() {
    assertThat(Bytes.utf8("content")).hasToString("7 bytes");
  }
}
