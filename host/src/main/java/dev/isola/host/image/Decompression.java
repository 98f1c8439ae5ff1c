package dev.isola.host.image;

import dev.isola.archive.ArchivePaths;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.util.List;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Decompresses archives and kernels. Detects the format by magic number, not by file name. Gzip is
 * decompressed by the JDK, other formats by external programs.
 */
public final class Decompression {
  private static final int MAX_MAGIC_LENGTH = 6;

  private Decompression() {}

  /**
   * Returns the decompressed content of {@code in}, or {@code in} itself if it is not compressed.
   */
  public static InputStream of(InputStream in) throws IOException {
    BufferedInputStream peeked = new BufferedInputStream(in, 1 << 16);
    peeked.mark(MAX_MAGIC_LENGTH);
    byte[] magic = peeked.readNBytes(MAX_MAGIC_LENGTH);
    peeked.reset();
    if (begins(magic, 0x1f, 0x8b)) {
      return new GzipStream(new EndDetectingStream(peeked));
    }
    if (begins(magic, 0x28, 0xb5, 0x2f, 0xfd)) {
      return new DecompressorProgram(List.of("zstd", "-dcq"), "zstd", peeked);
    }
    if (begins(magic, 0xfd, '7', 'z', 'X', 'Z', 0)) {
      return new DecompressorProgram(List.of("xz", "-dcq", "--memlimit=1GiB"), "xz-utils", peeked);
    }
    if (begins(magic, 0x02, 0x21, 0x4c, 0x18)) {
      return new DecompressorProgram(List.of("lz4", "-dcq"), "lz4", peeked);
    }
    if (begins(magic, 'B', 'Z', 'h')) {
      return new DecompressorProgram(List.of("bzip2", "-dcq"), "bzip2", peeked);
    }
    if (begins(magic, 'P', 'K', 3, 4)) {
      throw Fault.of(
              ErrorCode.BAD_ARCHIVE,
              "the archive is a zip file, which cannot store owners and links",
              "use a tar archive")
          .exception();
    }
    return peeked;
  }

  private static boolean begins(byte[] bytes, int... magic) {
    if (bytes.length < magic.length) {
      return false;
    }
    for (int i = 0; i < magic.length; i++) {
      if ((bytes[i] & 0xff) != magic[i]) {
        return false;
      }
    }
    return true;
  }

  /** Reports corrupt gzip data as a bad archive. */
  private static final class GzipStream extends FilterInputStream {
    GzipStream(InputStream packed) throws IOException {
      super(unzipped(packed));
    }

    private static InputStream unzipped(InputStream packed) throws IOException {
      try {
        return new GZIPInputStream(packed, 1 << 16);
      } catch (EOFException | ZipException e) {
        throw damaged(e);
      }
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
      try {
        return in.read(to, offset, length);
      } catch (EOFException | ZipException e) {
        throw damaged(e);
      }
    }

    private static RuntimeException damaged(IOException e) {
      return ArchivePaths.badArchive(
          "gzip cannot unpack the archive", String.valueOf(e.getMessage()));
    }
  }

  /**
   * Implements {@code available} by reading ahead. The gzip reader calls it to find out whether
   * another member follows, and a slow pipe must not look like the end.
   */
  private static final class EndDetectingStream extends FilterInputStream {
    EndDetectingStream(InputStream in) {
      super(new PushbackInputStream(in, 1));
    }

    @Override
    public int available() throws IOException {
      PushbackInputStream source = (PushbackInputStream) in;
      int next = source.read();
      if (next < 0) {
        return 0;
      }
      source.unread(next);
      return 1;
    }
  }
}
