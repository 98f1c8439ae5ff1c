package dev.isola.host.image;

import dev.isola.archive.ArchivePaths;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The output of an external decompression program that is fed from a stream. */
final class DecompressorProgram extends FilterInputStream {
  private static final int MAX_ERROR_LENGTH = 2000;

  private final String name;
  private final Process process;
  private final Thread feeder;
  private final AtomicReference<@Nullable Exception> broken = new AtomicReference<>();

  /**
   * @param install the Debian package of the program
   */
  DecompressorProgram(List<String> words, String install, InputStream from) throws IOException {
    this(words.getFirst(), start(words, install), from);
  }

  private DecompressorProgram(String name, Process process, InputStream from) {
    super(process.getInputStream());
    this.name = name;
    this.process = process;
    this.feeder = Thread.ofVirtual().name("isola-" + name).start(() -> feed(from));
  }

  private static Process start(List<String> words, String install) {
    try {
      return new ProcessBuilder(words).start();
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "this archive needs the program " + words.getFirst() + ", which is not installed",
              "install it (apt-get install " + install + "), or unpack the archive first")
          .exception(e);
    }
  }

  private void feed(InputStream from) {
    try (OutputStream to = process.getOutputStream()) {
      from.transferTo(to);
    } catch (IOException | RuntimeException e) {
      broken.set(e); // reported at the end unless the program itself fails
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    int n = super.read(to, offset, length);
    if (n < 0) {
      finish();
    }
    return n;
  }

  private void finish() throws IOException {
    try {
      String errorOutput =
          new String(process.getErrorStream().readNBytes(MAX_ERROR_LENGTH), StandardCharsets.UTF_8);
      int status = process.waitFor();
      feeder.join();
      Exception cause = broken.get();
      if (cause instanceof RuntimeException e) {
        throw e;
      }
      if (status != 0) {
        throw ArchivePaths.badArchive(name + " cannot unpack the archive", errorOutput.strip());
      }
      if (cause instanceof IOException e) {
        throw e;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "unpacking was interrupted", "").exception(e);
    }
  }

  @Override
  public void close() throws IOException {
    process.destroyForcibly();
    super.close();
  }
}
