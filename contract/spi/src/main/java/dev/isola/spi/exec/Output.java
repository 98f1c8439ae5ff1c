package dev.isola.spi.exec;

import dev.isola.spi.Bytes;
import java.time.Instant;

/**
 * A piece of what a command wrote. Offsets count the bytes of all channels together, in the order
 * the sandbox read them, from 0; they are what a reader keeps to come back later.
 */
public sealed interface Output {
  /** Returns where this piece starts. */
  long offset();

  /** Returns where the next piece starts. */
  long end();

  record Data(Channel channel, long offset, Instant at, Bytes bytes) implements Output {
    @Override
    public long end() {
      return offset + bytes.size();
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
