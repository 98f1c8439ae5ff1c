package dev.isola.codec.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpReaderTest {
  private static HttpReader reader(String text) {
    InputStream bytes = new ByteArrayInputStream(text.getBytes(ISO_8859_1));
    return new HttpReader(Channels.newChannel(bytes));
  }

  @Test
  void headIsReadAndWrittenUnchanged() throws IOException {
    String text = "GET / HTTP/1.1\r\nHost: a\r\nX-Empty: \r\nx-text: \u00e4 b\r\n\r\n";
    HttpHead head = reader(text + "rest").head(1000);
    assertThat(head.startLine()).isEqualTo("GET / HTTP/1.1");
    assertThat(head.values("x-TEXT")).containsExactly("\u00e4 b");
    assertThat(new String(head.toBytes(), ISO_8859_1)).isEqualTo(text);
    assertThat(head.toString()).as("values can be confidential").doesNotContain("\u00e4 b");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\r\n\r\n",
        "GET\n\n",
        "GET\r\nA: b\n\r\n",
        "GET\r\n A: b\r\n\r\n",
        "GET\r\nA : b\r\n\r\n",
        "GET\r\nA\r\n\r\n",
        "GET\r\n: b\r\n\r\n",
        "GET\r\nA: \u0001\r\n\r\n",
        "GET\r\nA: b\rc\r\n\r\n",
        "G\u0000\r\n\r\n",
        "GET\r\r\n\r\n"
      })
  void ambiguousHeadIsMalformed(String text) {
    assertThatThrownBy(() -> reader(text).head(1000)).isInstanceOf(MalformedHttpException.class);
  }

  @Test
  void headsAndLinesAreBounded() {
    assertThatThrownBy(() -> reader("A".repeat(1001)).head(1000)).hasMessageContaining("1000");
    assertThatThrownBy(() -> reader("GET").head(1000)).isInstanceOf(EOFException.class);
    assertThatThrownBy(() -> reader("1;" + "a".repeat(1000)).chunkSize())
        .isInstanceOf(MalformedHttpException.class);
  }

  @Test
  void chunksAreRead() throws IOException {
    HttpReader reader = reader("fF;a=b\r\n" + "x".repeat(255) + "\r\n0\r\nA: b\r\n\r\n");
    assertThat(reader.chunkSize()).isEqualTo(255);
    byte[] body = new byte[300];
    assertThat(reader.read(body, 0, 255)).isEqualTo(255);
    reader.chunkEnd();
    assertThat(reader.chunkSize()).isZero();
    assertThat(reader.trailers(100)).extracting(HttpHead.Field::text).containsExactly("b");
    assertThat(reader.awaitByte()).isFalse();
    for (String wrong :
        new String[] {
          "\r\n", " 1\r\n", "1 \r\n", "+1\r\n", "0x1\r\n", "1\n", "1".repeat(16) + "\r\n"
        }) {
      assertThatThrownBy(() -> reader(wrong).chunkSize())
          .isInstanceOf(MalformedHttpException.class);
    }
  }
}
