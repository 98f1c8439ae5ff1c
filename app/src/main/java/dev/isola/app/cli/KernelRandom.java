package dev.isola.app.cli;

import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;

/**
 * Random numbers read directly from the kernel. {@code SecureRandom} uses the same source, but
 * loads the security providers first, which noticeably slows down short commands.
 */
public final class KernelRandom implements RandomGenerator {
  private static final int AT_ONCE = 32 * Long.BYTES;

  private final ByteBuffer buffer = ByteBuffer.allocate(AT_ONCE).limit(0);

  private KernelRandom() {}

  public static KernelRandom open() {
    return new KernelRandom();
  }

  @Override
  public long nextLong() {
    if (buffer.remaining() < Long.BYTES) {
      fill();
    }
    return buffer.getLong();
  }

  private void fill() {
    try (DataInputStream kernel = new DataInputStream(new FileInputStream("/dev/urandom"))) {
      kernel.readFully(buffer.array());
      buffer.clear();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
