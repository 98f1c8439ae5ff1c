package dev.isola.engine.crash;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.locks.ReentrantLock;

/** Writes lines to the parent unbuffered, so that complete lines survive kill -9. */
final class LineWriter {
  private final ReentrantLock turn = new ReentrantLock();
  private final FileOutputStream out = new FileOutputStream(FileDescriptor.out);

  void write(Object... words) {
    StringBuilder line = new StringBuilder();
    for (Object word : words) {
      line.append(line.isEmpty() ? "" : " ").append(word.toString().replaceAll("\\s+", " "));
    }
    turn.lock();
    try {
      out.write(line.append('\n').toString().getBytes(UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      turn.unlock();
    }
  }
}
