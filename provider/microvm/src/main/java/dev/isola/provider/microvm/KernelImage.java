package dev.isola.provider.microvm;

import dev.isola.host.image.Decompression;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * A kernel file. Distributions compress kernels, and decompressing one in an emulated machine takes
 * seconds, so it is done once on the host.
 */
public final class KernelImage {
  private static final int MAX_SIZE = 512 << 20;
  private static final int MAX_UNPACKED_SIZE = 1 << 30;

  /** Offsets in the header that the x86 boot protocol defines. */
  private static final int SETUP_SECTORS = 0x1f1;

  private static final int MAGIC = 0x202;
  private static final int PAYLOAD_OFFSET = 0x248;
  private static final int PAYLOAD_LENGTH = 0x24c;
  private static final int SECTOR = 512;
  private static final byte[] HEADER = {'H', 'd', 'r', 'S'};

  private KernelImage() {}

  /** Writes the uncompressed kernel to a file. Other formats than x86's are copied if unpacked. */
  public static void unpack(Path packed, Path target) throws IOException {
    if (Files.size(packed) > MAX_SIZE) {
      throw new IOException(packed + " is too large for a kernel");
    }
    byte[] file = Files.readAllBytes(packed);
    try (InputStream content = Decompression.of(new ByteArrayInputStream(payload(file)));
        var out = Files.newOutputStream(target)) {
      byte[] buffer = new byte[1 << 16];
      long total = 0;
      for (int n = content.read(buffer); n >= 0; n = content.read(buffer)) {
        total += n;
        if (total > MAX_UNPACKED_SIZE) {
          throw new IOException(packed + " is too large for a kernel");
        }
        out.write(buffer, 0, n);
      }
    }
  }

  /** Returns the compressed part of an x86 kernel; all of any other. */
  private static byte[] payload(byte[] file) throws IOException {
    if (file.length < PAYLOAD_LENGTH + 4
        || !Arrays.equals(Arrays.copyOfRange(file, MAGIC, MAGIC + 4), HEADER)) {
      return file;
    }
    ByteBuffer header = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    long base = ((file[SETUP_SECTORS] & 0xff) + 1L) * SECTOR;
    long begin = base + Integer.toUnsignedLong(header.getInt(PAYLOAD_OFFSET));
    long end = begin + Integer.toUnsignedLong(header.getInt(PAYLOAD_LENGTH));
    if (begin >= end || end > file.length) {
      throw new IOException("the kernel's header is damaged");
    }
    boolean gzip = file[Math.toIntExact(begin)] == 0x1f;
    long size = gzip ? 0 : 4; // other formats are followed by the uncompressed size
    return Arrays.copyOfRange(file, Math.toIntExact(begin), Math.toIntExact(end - size));
  }
}
