package dev.isola.testing.provider;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/** A tar archive with the content of every regular file replaced by zeros. */
final class ZeroedTarStream extends InputStream {
  private static final int BLOCK = 512;

  private final InputStream archive;
  private byte[] block = new byte[0];
  private int next;
  private long content;
  private boolean file;

  ZeroedTarStream(InputStream archive) {
    this.archive = archive;
  }

  @Override
  public int read() throws IOException {
    if (next == block.length && !readBlock()) {
      return -1;
    }
    return block[next++] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (next == block.length && !readBlock()) {
      return -1;
    }
    int count = Math.min(length, block.length - next);
    System.arraycopy(block, next, into, offset, count);
    next += count;
    return count;
  }

  private boolean readBlock() throws IOException {
    block = archive.readNBytes(BLOCK);
    next = 0;
    if (content > 0) {
      content -= BLOCK;
      if (file) {
        Arrays.fill(block, (byte) 0);
      }
    } else if (block.length == BLOCK && block[0] != 0) {
      String size = new String(block, 124, 12, US_ASCII).replace("\0", "").strip();
      content = size.isEmpty() ? 0 : Long.parseLong(size, 8);
      file = block[156] == '0' || block[156] == 0;
    }
    return block.length > 0;
  }
}
