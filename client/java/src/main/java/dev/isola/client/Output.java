package dev.isola.client;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A piece of a command's output. Offsets count the bytes of all channels together, starting at 0; a
 * reader uses them to resume.
 */
public sealed interface Output {
  /** Channel that the output was written to. */
  enum Channel {
    STDOUT,
    STDERR,
    /** stdout and stderr combined, as a terminal does not separate them. */
    TERMINAL
  }

  /** Returns the offset of the first byte. */
  long offset();

  /** Returns the offset after the last byte. */
  long end();

  /** Output bytes. */
  final class Data implements Output {
    private final Channel channel;
    private final long offset;
    private final byte[] bytes;

    Data(Channel channel, long offset, byte[] bytes) {
      this.channel = channel;
      this.offset = offset;
      this.bytes = bytes;
    }

    public Channel channel() {
      return channel;
    }

    @Override
    public long offset() {
      return offset;
    }

    @Override
    public long end() {
      return offset + bytes.length;
    }

    public byte[] bytes() {
      return bytes.clone();
    }

    /** Returns the bytes decoded as UTF-8. A character may be cut at either end. */
    public String text() {
      return new String(bytes, StandardCharsets.UTF_8);
    }

    public void writeTo(OutputStream out) throws IOException {
      out.write(bytes);
    }

    /** Returns the part at and after offset {@code from}. */
    Data from(long from) {
      return from <= offset
          ? this
          : new Data(channel, from, Arrays.copyOfRange(bytes, (int) (from - offset), bytes.length));
    }
  }

  /** Output that the server no longer retains, because it was read too late. */
  record Gap(long offset, long lost) implements Output {
    @Override
    public long end() {
      return offset + lost;
    }
  }
}
