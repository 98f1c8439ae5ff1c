package dev.isola.spi.exec;

import dev.isola.spi.Bytes;
import java.time.Instant;

/**
 * A chunk of command output. Offsets count the bytes of all channels together, from 0, in the order
 * in which the sandbox read them. A reader stores an offset to resume there later.
 */
public sealed interface Output {
  /** Returns the offset of this chunk. */
  long offset();

  /** Returns the offset of the next chunk. */
  long end();

  record Data(Channel channel, long offset, Instant at, Bytes bytes) implements Output {
    @Override
    public long end() {
      return offset + bytes.size();
    }
  }

  /** Output that is no longer retained because the reader fell too far behind. */
  record Gap(long offset, long lost) implements Output {
    @Override
    public long end() {
      return offset + lost;
    }
  }
}
