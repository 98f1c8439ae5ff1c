package dev.isola.engine.api.template;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.codec.digest.Sha256;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.error.NotFound;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UploadsTest {
  private static final String TEXT = "content";
  private static final String SHA256 = Sha256.hex(TEXT);

  @TempDir Path folder;
  private Uploads uploads;
  private Instant now = Instant.parse("2030-01-01T00:00:00Z");

  @BeforeEach
  void open() {
    uploads = new Uploads(folder.resolve("uploads"), 1000, () -> now);
  }

  private static InputStream of(String text) {
    return new ByteArrayInputStream(text.getBytes(UTF_8));
  }

  private List<String> files() throws IOException {
    if (!Files.exists(uploads.folder())) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(uploads.folder())) {
      return all.map(one -> one.getFileName().toString()).toList();
    }
  }

  @Test
  void archiveIsStoredByItsHash() throws IOException {
    uploads.put(SHA256, of(TEXT));
    assertThat(uploads.contains(SHA256)).isTrue();
    try (InputStream in = uploads.open(SHA256)) {
      assertThat(in.readAllBytes()).asString(UTF_8).isEqualTo(TEXT);
    }
  }

  @Test
  void contentWithADifferentHashIsRejectedAndRemoved() throws IOException {
    String other = "0".repeat(64);
    assertThatThrownBy(() -> uploads.put(other, of(TEXT)))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining(SHA256);
    assertThat(uploads.contains(other)).isFalse();
    assertThat(uploads.contains(SHA256)).isFalse();
    assertThat(files()).isEmpty();
  }

  @Test
  void oversizedOrInterruptedUploadLeavesNothingBehind() throws IOException {
    assertThatThrownBy(() -> uploads.putAs("big", of("x".repeat(1001))))
        .isInstanceOfSatisfying(
            LimitExceeded.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.RESOURCE_LIMIT));
    InputStream broken =
        new InputStream() {
          private int left = 10;

          @Override
          public int read() throws IOException {
            if (left-- <= 0) {
              throw new IOException("the client went away");
            }
            return 'x';
          }

          @Override
          public int read(byte[] bytes, int offset, int length) throws IOException {
            bytes[offset] = (byte) read();
            return 1;
          }
        };
    assertThatThrownBy(() -> uploads.putAs("broken", broken)).isInstanceOf(IOException.class);
    assertThat(files()).isEmpty();
  }

  @Test
  void clientNameResolvesToTheHash() throws IOException {
    assertThat(uploads.named("theirs")).isEmpty();
    assertThat(uploads.putAs("theirs", of(TEXT))).isEqualTo(SHA256);
    assertThat(uploads.named("theirs")).contains(SHA256);
    assertThat(uploads.contains(SHA256)).isTrue();
    assertThat(uploads.contains("theirs")).isFalse();
  }

  @Test
  void namesCannotBePaths() {
    for (String wrong : List.of("", "..", "a/b", "../x", "x".repeat(129), "a b")) {
      assertThatThrownBy(() -> uploads.putAs(wrong, of(TEXT))).isInstanceOf(InvalidRequest.class);
      assertThatThrownBy(() -> uploads.named(wrong)).isInstanceOf(InvalidRequest.class);
      assertThatThrownBy(() -> uploads.put(wrong, of(TEXT))).isInstanceOf(InvalidRequest.class);
      assertThat(uploads.contains(wrong)).isFalse();
    }
    assertThatThrownBy(() -> uploads.open("f".repeat(64))).isInstanceOf(NotFound.class);
  }

  @Test
  void onlyUnusedArchivesAreRemoved() throws IOException {
    uploads.put(SHA256, of(TEXT));
    uploads.putAs("other", of("other content"));
    now = now.plus(Duration.ofDays(8));
    uploads.open(SHA256).close();
    uploads.removeUnusedSince(now.minus(Duration.ofDays(7)));
    assertThat(files()).containsExactly(SHA256 + ".tar");
    assertThat(uploads.named("other")).isEmpty();
  }
}
