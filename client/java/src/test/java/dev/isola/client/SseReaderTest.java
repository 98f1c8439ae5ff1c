package dev.isola.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class SseReaderTest {
  private static SseReader of(String text) {
    return new SseReader(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  @SuppressWarnings("StringConcatToTextBlock") // A text block has no carriage returns.
  void readsEvents() throws IOException {
    SseReader events =
        of(
            ": \n\n"
                + "event: output\n"
                + "id: 5\n"
                + "data: {\"a\":\"ü\"}\n\r\n"
                + ": \n\n"
                + "id:7\n"
                + "data:x\r\n"
                + "data: y\n\n");
    assertThat(events.next()).contains(new SseReader.Event("output", "5", "{\"a\":\"ü\"}"));
    assertThat(events.next()).contains(new SseReader.Event("message", "7", "x\ny"));
    assertThat(events.next()).isEmpty();
  }

  @Test
  void idWithoutAnEventIsAPosition() throws IOException {
    SseReader events = of("id: 4\n\nid: 5\ndata: x\n\n: \n\nid: 7\n\nid: 8\ndata: incomplete\n");
    assertThat(events.lastId()).isEmpty();
    assertThat(events.next()).contains(new SseReader.Event("message", "5", "x"));
    assertThat(events.lastId()).isEqualTo("5");
    assertThat(events.next()).isEmpty();
    assertThat(events.lastId()).isEqualTo("7");
  }

  @Test
  void incompleteEventIsDiscarded() throws IOException {
    assertThat(of("event: output\ndata: {}\n").next()).isEmpty();
  }

  @Test
  void overlongLineIsAnError() {
    InputStream endless =
        new InputStream() {
          @Override
          public int read() {
            return 'x';
          }

          @Override
          public int read(byte[] buffer, int from, int length) {
            java.util.Arrays.fill(buffer, from, from + length, (byte) 'x');
            return length;
          }
        };
    assertThatThrownBy(() -> new SseReader(endless).next()).hasMessageContaining("longer than");
  }
}
