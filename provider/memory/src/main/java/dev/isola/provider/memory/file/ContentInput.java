package dev.isola.provider.memory.file;

import dev.isola.spi.file.ReadRange;
import java.io.InputStream;

/** Reads a part of an open file. */
final class ContentInput extends InputStream {
  private final OpenContent file;
  private final Runnable alive;
  private long position;
  private long left;

  ContentInput(OpenContent file, ReadRange range, Runnable alive) {
    this.file = file;
    this.alive = alive;
    this.position = range.offset();
    this.left = range.length();
  }

  @Override
  public int read() {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] buffer, int offset, int length) {
    alive.run();
    if (length == 0) {
      return 0;
    }
    int count = left == 0 ? -1 : file.read(position, buffer, offset, (int) Math.min(left, length));
    if (count > 0) {
      position += count;
      left -= count;
    }
    return count;
  }
}
