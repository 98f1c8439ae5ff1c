package dev.isola.server.api;

import java.io.IOException;
import java.io.Reader;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** Concatenates readers. */
final class ConcatenatedReader extends Reader {
  private final Deque<Reader> left;

  ConcatenatedReader(Reader... parts) {
    left = new ArrayDeque<>(List.of(parts));
  }

  @Override
  public int read(char[] buffer, int from, int length) throws IOException {
    while (!left.isEmpty()) {
      int read = left.getFirst().read(buffer, from, length);
      if (read >= 0) {
        return read;
      }
      left.removeFirst().close();
    }
    return -1;
  }

  @Override
  public void close() throws IOException {
    while (!left.isEmpty()) {
      left.removeFirst().close();
    }
  }
}
