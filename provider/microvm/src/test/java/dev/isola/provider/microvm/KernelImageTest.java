package dev.isola.provider.microvm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class KernelImageTest {
  @TempDir Path folder;

  private static byte[] gzip(String text) throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
      out.write(text.getBytes(UTF_8));
    }
    return packed.toByteArray();
  }

  /** Returns an x86 kernel whose header says that the payload has {@code length} bytes. */
  private static byte[] kernel(byte[] payload, int length) {
    ByteBuffer file =
        ByteBuffer.allocate(1024 + 16 + payload.length).order(ByteOrder.LITTLE_ENDIAN);
    file.put(0x1f1, (byte) 1);
    file.put(0x202, "HdrS".getBytes(UTF_8));
    file.putInt(0x248, 16);
    file.putInt(0x24c, length);
    file.put(1024 + 16, payload);
    return file.array();
  }

  private String unpack(byte[] file) throws IOException {
    Path packed = Files.write(folder.resolve("packed"), file);
    Path target = folder.resolve("kernel");
    KernelImage.unpack(packed, target);
    return Files.readString(target);
  }

  @Test
  void compressedPartOfAnX86KernelIsUnpacked() throws IOException {
    byte[] payload = gzip("the kernel");
    assertThat(unpack(kernel(payload, payload.length))).isEqualTo("the kernel");
  }

  @Test
  void otherKernelIsTakenAsItIs() throws IOException {
    assertThat(unpack("plain".getBytes(UTF_8))).isEqualTo("plain");
    assertThat(unpack(gzip("packed as a whole"))).isEqualTo("packed as a whole");
  }

  @Test
  void damagedHeaderIsRefused() throws IOException {
    byte[] payload = gzip("the kernel");
    assertThatThrownBy(() -> unpack(kernel(payload, payload.length + 1)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("damaged");
    assertThatThrownBy(() -> unpack(kernel(payload, -1))).isInstanceOf(IOException.class);
  }
}
