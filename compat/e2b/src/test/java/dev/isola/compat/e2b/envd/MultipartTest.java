package dev.isola.compat.e2b.envd;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.InvalidRequest;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MultipartTest {
  private static final String TYPE = "multipart/form-data; boundary=----x";

  /** Returns a stream that reads in chunks of random size. */
  private static InputStream pieces(byte[] bytes, long seed) {
    Random random = new Random(seed);
    return new FilterInputStream(new ByteArrayInputStream(bytes)) {
      @Override
      public int read(byte[] into, int offset, int length) throws IOException {
        return super.read(into, offset, Math.min(length, 1 + random.nextInt(9)));
      }
    };
  }

  private static byte[] form(List<String> names, List<byte[]> contents) {
    ByteArrayOutputStream form = new ByteArrayOutputStream();
    for (int i = 0; i < names.size(); i++) {
      String head =
          "------x\r\nContent-Disposition: form-data; name=\"file\"; filename=\""
              + names.get(i)
              + "\"\r\nContent-Type: application/octet-stream\r\n\r\n";
      form.writeBytes(head.getBytes(UTF_8));
      form.writeBytes(contents.get(i));
      form.writeBytes("\r\n".getBytes(ISO_8859_1));
    }
    form.writeBytes("------x--\r\n".getBytes(ISO_8859_1));
    return form.toByteArray();
  }

  @Test
  void partsAreReadCompletely() throws IOException {
    Random random = new Random(1);
    List<String> names = List.of("/a/b c.txt", "ž.txt", "%22quoted%22", "");
    List<byte[]> contents = new ArrayList<>();
    contents.add(new byte[0]);
    contents.add("\r\n------\r\n--\r\n------y\r\n".getBytes(ISO_8859_1)); // almost a boundary
    byte[] large = new byte[200_000];
    random.nextBytes(large);
    contents.add(large);
    contents.add("\r".getBytes(ISO_8859_1));
    for (long seed = 0; seed < 5; seed++) {
      Multipart form = new Multipart(pieces(form(names, contents), seed), TYPE);
      for (int i = 0; i < names.size(); i++) {
        Multipart.Part part = form.next().orElseThrow();
        assertThat(part.name()).isEqualTo("file");
        assertThat(part.file()).contains(names.get(i).replace("%22", "\""));
        assertThat(part.content().readAllBytes()).isEqualTo(contents.get(i));
      }
      assertThat(form.next()).isEmpty();
    }
  }

  @Test
  void unreadPartIsSkipped() throws IOException {
    byte[] bytes = form(List.of("a", "b"), List.of(new byte[100_000], "x".getBytes(UTF_8)));
    Multipart form = new Multipart(new ByteArrayInputStream(bytes), TYPE);
    form.next();
    assertThat(form.next().orElseThrow().file()).contains("b");
    assertThat(form.next()).isEmpty();
  }

  @Test
  void encodedFileNameTakesPrecedence() throws IOException {
    String form =
        "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"x\";"
            + " filename*=UTF-8''%C5%BE+1.txt\r\n\r\nx\r\n--b--";
    Multipart.Part part =
        new Multipart(
                new ByteArrayInputStream((form + "\r\n").getBytes(UTF_8)),
                "multipart/form-data; boundary=\"b\"")
            .next()
            .orElseThrow();
    assertThat(part.file()).contains("ž+1.txt");
  }

  @Test
  void truncatedFormIsDetected() throws IOException {
    byte[] bytes = form(List.of("a"), List.of("content".getBytes(UTF_8)));
    for (int length = 0; length < bytes.length - 2; length++) {
      InputStream cut = new ByteArrayInputStream(bytes, 0, length);
      assertThatThrownBy(
              () -> {
                Multipart form = new Multipart(cut, TYPE);
                while (form.next().isPresent()) {
                  // until the end
                }
              })
          .as("after " + length)
          .isInstanceOf(EOFException.class);
    }
  }

  @Test
  void partHeadersAreLimitedInSize() {
    String form = "--b\r\nX: " + "y".repeat(100_000);
    assertThatThrownBy(
            () ->
                new Multipart(
                        new ByteArrayInputStream(form.getBytes(UTF_8)),
                        "multipart/form-data; boundary=b")
                    .next())
        .isInstanceOf(InvalidRequest.class);
    assertThatThrownBy(() -> new Multipart(InputStream.nullInputStream(), "multipart/form-data"))
        .isInstanceOf(InvalidRequest.class);
  }
}
