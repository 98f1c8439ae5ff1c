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
    int fill(ByteBuffer buffer) throws IOException;
  }

  private enum Sent {
    MORE,
    ALL,
    /** The stream is over, or the wait for credit timed out. */
    NOTHING
  }

  private final SendWindow out;
  private final Source source;
  private final @Nullable FileRegions regions;

  StreamUpload(SendWindow out, InputStream content) {
    this.out = out;
    // A subclass may override read(), which reading from the channel would bypass.
    if (content.getClass() == FileInputStream.class) {
      regions = new FileRegions(((FileInputStream) content).getChannel());
      source = regions::read;
    } else {
      regions = null;
      source = pieces(content);
    }
  }

  private static Source pieces(InputStream content) {
    byte[] piece = new byte[PIECE];
    return buffer -> {
      int total = 0;
      do {
        int count = content.read(piece, 0, Math.min(PIECE, buffer.remaining()));
        if (count < 0) {
          return total == 0 ? -1 : total;
        }
        buffer.put(piece, 0, count);
        total += count;
      } while (buffer.hasRemaining() && content.available() > 0);
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
      return sent == Sent.ALL && awaitRegions(timeout);
    } finally {
      if (regions != null) {
        regions.awaitRelease();
      }
    }
  }

  /**
   * Waits for all regions, since a read error must be detected before EOF signals to the agent that
   * the content is complete.
   */
  private boolean awaitRegions(Duration timeout) throws IOException, InterruptedException {
    if (regions == null) {
      return true;
    }
    boolean out = regions.await(timeout);
    regions.check();
    return out;
  }

  private Sent sendFrame(Duration timeout) throws IOException, InterruptedException {
    int credit = out.reserve(Wire.FRAME_MAX, timeout);
    if (credit == 0) {
      return Sent.NOTHING;
    }
    int used = 0;
    try {
      FileRegion region = regions == null ? null : regions.next(credit);
      if (region == null) {
        used = sendBuffer(credit);
      } else {
        sendRegion(region);
        used = region.count();
      }
    } finally {
      out.release(credit - Math.max(used, 0));
    }
    return used < 0 ? Sent.ALL : Sent.MORE;
  }

  /** Returns how many bytes it sent, -1 at the end. */
  private int sendBuffer(int credit) throws IOException, InterruptedException {
    ByteBuffer buffer = BufferPool.SHARED.acquire();
    boolean posted = false;
    try {
      int count = source.fill(buffer.position(Wire.HEADER).limit(Wire.HEADER + credit));
      posted = count > 0 && out.post(buffer.flip());
      return count;
    } finally {
      if (!posted) {
        BufferPool.SHARED.release(buffer);
      }
    }
  }

  private void sendRegion(FileRegion region) throws InterruptedException {
    boolean posted = false;
    try {
      posted = out.post(region);
    } finally {
      if (!posted) {
        region.release();
      }
    }
  }
}
