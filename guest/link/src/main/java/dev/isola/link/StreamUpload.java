package dev.isola.link;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Uploads the content of a stream, in frames as large as the credit and the available input allow.
 */
final class StreamUpload {
  /** Larger native reads would allocate memory each time. */
  private static final int PIECE = 64 * 1024;

  /** Reads bytes into a buffer. Returns how many, -1 at the end. */
  private interface Source {
    int fill(ByteBuffer block) throws IOException;
  }

  private enum Sent {
    MORE,
    ALL,
    /** The stream is over, or the wait for credit timed out. */
    NOTHING
  }

  private final SendWindow out;
  private final Source source;
  private final @Nullable FileRegions parts;

  StreamUpload(SendWindow out, InputStream content) {
    this.out = out;
    // A subclass may override read(), which reading from the channel would bypass.
    if (content.getClass() == FileInputStream.class) {
      parts = new FileRegions(((FileInputStream) content).getChannel());
      source = parts::read;
    } else {
      parts = null;
      source = pieces(content);
    }
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
   * Uploads everything.
   *
   * @param timeout how long to wait for credit each time
   * @return false when the stream is over or the wait timed out
   */
  boolean run(Duration timeout) throws IOException, InterruptedException {
    Sent sent = Sent.MORE;
    try {
      while (sent == Sent.MORE) {
        sent = sendFrame(timeout);
      }
      return sent == Sent.ALL && isOut(timeout);
    } finally {
      if (parts != null) {
        parts.awaitRelease();
      }
    }
  }

  /**
   * Waits for all regions, since a read error must be detected before EOF tells the agent that the
   * content is complete.
   */
  private boolean isOut(Duration timeout) throws IOException, InterruptedException {
    if (parts == null) {
      return true;
    }
    boolean out = parts.await(timeout);
    parts.check();
    return out;
  }

  private Sent sendFrame(Duration timeout) throws IOException, InterruptedException {
    int credit = out.reserve(Wire.FRAME_MAX, timeout);
    if (credit == 0) {
      return Sent.NOTHING;
    }
    int used = 0;
    try {
      FileRegion part = parts == null ? null : parts.next(credit);
      if (part == null) {
        used = sendBlock(credit);
      } else {
        sendPart(part);
        used = part.count();
      }
    } finally {
      out.release(credit - Math.max(used, 0));
    }
    return used < 0 ? Sent.ALL : Sent.MORE;
  }

  /** Returns how many bytes it sent, -1 at the end. */
  private int sendBlock(int credit) throws IOException, InterruptedException {
    ByteBuffer block = BufferPool.SHARED.acquire();
    boolean handedOn = false;
    try {
      int count = source.fill(block.position(Wire.HEADER).limit(Wire.HEADER + credit));
      handedOn = count > 0 && out.post(block.flip());
      return count;
    } finally {
      if (!handedOn) {
        BufferPool.SHARED.release(block);
      }
    }
  }

  private void sendPart(FileRegion part) throws InterruptedException {
    boolean handedOn = false;
    try {
      handedOn = out.post(part);
    } finally {
      if (!handedOn) {
        part.release();
      }
    }
  }
}
