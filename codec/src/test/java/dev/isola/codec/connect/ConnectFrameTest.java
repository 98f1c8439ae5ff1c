package dev.isola.codec.connect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.codec.connect.ConnectFrame.MalformedFrame;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ConnectFrameTest {
  private static final byte[] JSON = "{\"a\":1}".getBytes(UTF_8);

  private static InputStream in(byte[] bytes) {
    return new ByteArrayInputStream(bytes);
  }

  @Test
  void frameHasFlagsLengthAndJson() throws IOException {
    assertThat(ConnectFrame.message(JSON)).startsWith(0, 0, 0, 0, 7).endsWith(JSON).hasSize(12);
    assertThat(ConnectFrame.end(JSON)).startsWith(2, 0, 0, 0, 7).endsWith(JSON);

    ConnectFrame message = ConnectFrame.read(in(ConnectFrame.message(JSON)), 7).orElseThrow();
    assertThat(message.json()).isEqualTo(JSON);
    assertThat(message.isEnd()).isFalse();
    assertThat(ConnectFrame.read(in(ConnectFrame.end(JSON)), 7).orElseThrow().isEnd()).isTrue();
  }

  @Test
  void streamThatEndsBeforeAFrameIsEmpty() throws IOException {
    assertThat(ConnectFrame.read(in(new byte[0]), 7)).isEmpty();
  }

  @Test
  void streamThatEndsWithinAFrameIsTruncated() {
    byte[] whole = ConnectFrame.message(JSON);
    for (int length = 1; length < whole.length; length++) {
      byte[] part = Arrays.copyOf(whole, length);
      assertThatThrownBy(() -> ConnectFrame.read(in(part), 7)).isInstanceOf(EOFException.class);
    }
  }

  @Test
  void lengthsAreBoundedBeforeAnythingIsRead() {
    assertThatThrownBy(() -> ConnectFrame.read(in(ConnectFrame.message(JSON)), 6))
        .isInstanceOf(MalformedFrame.class)
        .hasMessage("a message is larger than 6 bytes");
    assertThatThrownBy(() -> ConnectFrame.read(in(new byte[] {0, -1, -1, -1, -1}), 6))
        .isInstanceOf(MalformedFrame.class);
  }

  @Test
  void aCompressedFrameIsRefused() {
    byte[] compressed = ConnectFrame.message(JSON);
    compressed[0] = 1;
    assertThatThrownBy(() -> ConnectFrame.read(in(compressed), 7))
        .isInstanceOf(MalformedFrame.class)
        .hasMessage("compressed messages are not supported");
  }

  /** A read of zero bytes at the end makes Jetty's stream wait for more input. */
  @Test
  void nothingIsReadBeyondAFrame() throws IOException {
    byte[] frame = ConnectFrame.message(JSON);
    InputStream strict =
        new InputStream() {
          private int at;

          @Override
          public int read() {
            if (at == frame.length) {
              throw new AssertionError("read beyond the frame");
            }
            return frame[at++];
          }

          @Override
          public int read(byte[] to, int offset, int length) {
            if (length == 0 || at == frame.length) {
              throw new AssertionError("asked for nothing, or beyond the frame");
            }
            to[offset] = frame[at++];
            return 1;
          }
        };
    assertThat(ConnectFrame.read(strict, 7).orElseThrow().json()).isEqualTo(JSON);
  }
}
