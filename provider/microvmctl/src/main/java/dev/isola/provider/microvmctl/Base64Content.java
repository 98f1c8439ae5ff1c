package dev.isola.provider.microvmctl;

import dev.isola.spi.file.ReadRange;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Base64;

/** The content of a file that {@code read --base64} prints, decoded while it is read. */
final class Base64Content extends InputStream {
  private static final Duration END = Duration.ofSeconds(30);

  private final ControllerProcess process;
  private final ControllerErrors errors;
  private final InputStream decoded;
  private long skip;
  private long left;

  Base64Content(ControllerProcess process, ControllerErrors errors, ReadRange range) {
    this.process = process;
    this.errors = errors;
    this.decoded = Base64.getDecoder().wrap(new WithoutBlanks(process.out()));
    this.skip = range.offset();
    this.left = range.length();
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    byte[] skipped = new byte[8192];
    while (skip > 0) {
      int count = decoded.read(skipped, 0, (int) Math.min(skip, skipped.length));
      if (count < 0) {
        requireSuccess();
        return -1;
      }
      skip -= count;
    }
    if (left == 0) {
      return -1;
    }
    int count = decoded.read(to, offset, (int) Math.min(left, length));
    if (count < 0) {
      requireSuccess();
      return -1;
    }
    left -= count;
    return count;
  }

  /** The end of the output is the end of the file only if the controller succeeded. */
  private void requireSuccess() throws IOException {
    if (!process.await(END)) {
      throw new IOException("the command did not end after its output");
    }
    if (process.exitCode() != 0) {
      var failure = errors.of("read", process.exitCode(), process.error());
      throw new IOException(failure.fault().problem(), failure);
    }
  }

  @Override
  public void close() {
    process.close();
  }

  /** Lines of any length are allowed; anything else that is not base64 is an error. */
  private static final class WithoutBlanks extends FilterInputStream {
    WithoutBlanks(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      int c = in.read();
      while (c == '\n' || c == '\r' || c == ' ') {
        c = in.read();
      }
      return c;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
      int kept = 0;
      while (kept == 0) {
        int count = in.read(to, offset, length);
        if (count < 0) {
          return -1;
        }
        for (int i = offset; i < offset + count; i++) {
          if (to[i] != '\n' && to[i] != '\r' && to[i] != ' ') {
            to[offset + kept] = to[i];
            kept++;
          }
        }
      }
      return kept;
    }
  }
}
