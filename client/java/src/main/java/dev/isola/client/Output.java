package dev.isola.client;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A piece of what a command wrote. Offsets count the bytes of all channels together from 0; they
 * are what a reader keeps to come back later.
 */
public sealed interface Output {
  /** Where a piece came from. */
  enum Channel {
    STDOUT,
    STDERR,
    /** Both, through a terminal, which cannot tell them apart. */
    TERMINAL
  }

  /** Returns where this piece starts. */
  long offset();

  /** Returns where the next piece starts. */
  long end();

  /** Bytes, as they were written. */
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

    /** Returns the bytes as UTF-8; a character may be cut at either end. */
    public String text() {
      return new String(bytes, StandardCharsets.UTF_8);
    }

    public void writeTo(OutputStream out) throws IOException {
      out.write(bytes);
    }

    /** Returns what of this lies at and behind {@code from}. */
    Data from(long from) {
      return from <= offset
          ? this
          : new Data(channel, from, Arrays.copyOfRange(bytes, (int) (from - offset), bytes.length));
    }
  }

  /** Bytes that were written and are kept no longer: the reader came too late. */
  record Gap(long offset, long lost) implements Output {
    @Override
    public long end() {
      return offset + lost;
    }
  }
}
