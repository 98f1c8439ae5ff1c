package dev.isola.codec.tar;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * A tar archive that is produced while it is read. Only a buffer of each file is in memory. Not
 * thread-safe.
 */
public final class TarStream extends InputStream {
  private static final int END = 2 * TarHeader.BLOCK;

  private final Iterator<Item> items;
  private byte[] head = new byte[0];
  private int at;
  private InputStream content = InputStream.nullInputStream();
  private long left;
  private int padding;
  private boolean ended;

  /** An entry with its content, of which {@link TarEntry#size()} bytes are read. */
  public interface Item {
    TarEntry entry();

    InputStream content() throws IOException;
  }

  public TarStream(Iterator<Item> items) {
    this.items = items;
  }

  /**
   * Returns the entries of an archive for deleted paths, without the end marker, so that more
   * entries can follow.
   */
  public static InputStream removals(List<String> paths) {
    ByteArrayOutputStream heads = new ByteArrayOutputStream();
    for (String path : paths) {
      heads.writeBytes(
          TarHeader.of(new TarEntry(path, TarEntry.Kind.REMOVED, "", 0, 0, 0, 0, 0, 0, Map.of())));
    }
    return new ByteArrayInputStream(heads.toByteArray());
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    while (at == head.length && left == 0) {
      if (!advance()) {
        return -1;
      }
    }
    if (at < head.length) {
      int count = Math.min(length, head.length - at);
      System.arraycopy(head, at, to, offset, count);
      at += count;
      return count;
    }
    int count = content.read(to, offset, (int) Math.min(length, left));
    if (count < 0) {
      throw new EOFException("a file ended " + left + " bytes before it should");
    }
    left -= count;
    return count;
  }

  /** Advances to the next header or content; returns false at the end of the archive. */
  private boolean advance() throws IOException {
    at = 0;
    content.close();
    content = InputStream.nullInputStream();
    if (padding > 0) {
      head = new byte[padding];
      padding = 0;
    } else if (items.hasNext()) {
      Item item = items.next();
      head = TarHeader.of(item.entry());
      if (item.entry().kind() == TarEntry.Kind.FILE && item.entry().size() > 0) {
        content = item.content();
        left = item.entry().size();
        padding = TarHeader.padding(left);
      }
    } else if (!ended) {
      ended = true;
      head = new byte[END];
    } else {
      head = new byte[0];
      return false;
    }
    return true;
  }

  @Override
  public void close() throws IOException {
    content.close();
  }
}
