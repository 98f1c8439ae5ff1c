package dev.isola.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
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
  void passesItsContentOnWithoutACopy() throws IOException {
    byte[] content = {1, 2, 3};
    List<byte[]> written = new ArrayList<>();
    OutputStream out =
        new OutputStream() {
          @Override
          public void write(int one) {
            throw new AssertionError("a single byte");
          }

          @Override
          public void write(byte[] bytes) {
            written.add(bytes);
          }
        };
    Bytes.wrap(content).writeTo(out);

    assertThat(written).hasSize(1);
    assertThat(written.getFirst()).isSameAs(content);
  }

  @Test
  void partsAreTheContentInItsOrder() {
    Bytes bytes = Bytes.of(new byte[] {1, 2, 3, 4});
    byte[] target = new byte[4];
    bytes.copyTo(1, target, 2, 2);
    ByteArrayOutputStream buffer = new ByteArrayOutputStream();
    bytes.copyTo(2, buffer, 2);
    ByteBuffer view = bytes.buffer(1, 2);

    assertThat(target).containsExactly(0, 0, 2, 3);
    assertThat(buffer.toByteArray()).containsExactly(3, 4);
    assertThat(view.isReadOnly()).isTrue();
    assertThat(new byte[] {view.get(), view.get()}).containsExactly(2, 3);
    assertThat(view.hasRemaining()).isFalse();
    assertThat(bytes.at(3)).isEqualTo((byte) 4);
    assertThat(Bytes.utf8("text").base64()).isEqualTo("dGV4dA==");
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
