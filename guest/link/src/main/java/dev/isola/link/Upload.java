package dev.isola.link;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;

/** Sends the content of a stream, in frames as large as the credit allows and it comes. */
final class Upload {
  /** Native reads of more would allocate for each of them. */
  private static final int PIECE = 64 * 1024;

  /** Puts bytes into a block; returns how many, -1 at the end. */
  private interface Source {
    int fill(ByteBuffer block) throws IOException;
  }

  private enum Sent {
    MORE,
    ALL,
    NOTHING
  }

  private final Outflow out;
  private final Source source;

  Upload(Outflow out, InputStream content) {
    this.out = out;
    // A class made from it may do more in read() than its channel knows of.
    this.source =
        content.getClass() == FileInputStream.class
            ? ((FileInputStream) content).getChannel()::read
            : pieces(content);
  }

  private static Source pieces(InputStream content) {
    byte[] piece = new byte[PIECE];
    return block -> {
      int total = 0;
      do {
        int count = content.read(piece, 0, Math.min(PIECE, block.remaining()));
        if (count < 0) {
          return total == 0 ? -1 : total;
        }
        block.put(piece, 0, count);
        total += count;
      } while (block.hasRemaining() && content.available() > 0);
      return total;
    };
  }

  /**
   * Sends everything.
   *
   * @param patience how long to wait for credit each time
   * @return false when the stream is over, or the patience is
   */
  boolean run(Duration patience) throws IOException, InterruptedException {
    Sent sent = Sent.MORE;
    while (sent == Sent.MORE) {
      sent = sendFrame(patience);
    }
    return sent == Sent.ALL;
  }

  private Sent sendFrame(Duration patience) throws IOException, InterruptedException {
    int credit = out.reserve(Wire.FRAME_MAX, patience);
    if (credit == 0) {
      return Sent.NOTHING;
    }
    ByteBuffer block = Blocks.SHARED.take();
    boolean handedOn = false;
    int count = 0;
    try {
      count = source.fill(block.position(Wire.HEADER).limit(Wire.HEADER + credit));
      handedOn = count > 0 && out.post(block.flip());
    } finally {
      out.unreserve(credit - Math.max(count, 0));
      if (!handedOn) {
        Blocks.SHARED.giveBack(block);
      }
    }
    if (count < 0) {
      return Sent.ALL;
    }
    return handedOn || count == 0 ? Sent.MORE : Sent.NOTHING;
  }
}
