package dev.isola.link;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.IntPredicate;

/**
 * Reads frames from a channel. Used by the reading thread only. Small frames are copied from an
 * internal buffer; the rest of a large one is read directly into its own array.
 */
final class FrameReader {
  private static final int BUFFER = 32 * 1024;
  private static final byte[] EMPTY = {};

  private final AgentChannel channel;
  private final IntPredicate bulk;
  private final byte[] buffer = new byte[BUFFER];
  private int start;
  private int end;

  /**
   * Creates a reader.
   *
   * @param bulk returns true for streams whose large DATA frames use pooled buffers
   */
  FrameReader(AgentChannel channel, IntPredicate bulk) {
    this.channel = channel;
    this.bulk = bulk;
  }

  /**
   * Waits for the next frame.
   *
   * @throws EOFException when the channel ends
   * @throws ProtocolViolation when the frame is larger than allowed; nothing was allocated for it
   */
  Frame next() throws IOException {
    require(Wire.HEADER);
    int length = Wire.getInt(buffer, start);
    int type = buffer[start + 4] & 0xff;
    int stream = Wire.getInt(buffer, start + 5);
    if (length < 0 || length > Wire.FRAME_MAX) {
      throw new ProtocolViolation(
          "a frame of "
              + (length & 0xffff_ffffL)
              + " bytes, and "
              + Wire.FRAME_MAX
              + " are allowed");
    }
    start += Wire.HEADER;
    if (type == Wire.OUTPUT) {
      return output(stream, length);
    }
    if (type == Wire.DATA && length >= BufferPool.MIN_FRAME && bulk.test(stream)) {
      return Frame.large(stream, block(length));
    }
    return new Frame(type, stream, payload(length));
  }

  /** Returns true when bytes that were already read are waiting. */
  boolean hasBuffered() {
    return start < end;
  }

  /**
   * Skips bytes left over from an earlier connection, up to the next CHALLENGE.
   *
   * @param limit the largest number of bytes to skip
   */
  void skipToChallenge(int limit) throws IOException {
    for (int skipped = 0; skipped <= limit; skipped++) {
      require(Handshake.CHALLENGE_START);
      if (Handshake.startsChallenge(buffer, start)) {
        return;
      }
      start++;
    }
    throw new ProtocolViolation("no CHALLENGE within " + limit + " bytes");
  }

  private Frame output(int stream, int length) throws IOException {
    if (length <= Wire.OUTPUT_HEADER) {
      throw new ProtocolViolation("an OUTPUT frame without content");
    }
    require(Wire.OUTPUT_HEADER);
    int channelNumber = buffer[start] & 0xff;
    long offset = Wire.getLong(buffer, start + 1);
    long time = Wire.getLong(buffer, start + 9);
    start += Wire.OUTPUT_HEADER;
    byte[] content = payload(length - Wire.OUTPUT_HEADER);
    return Frame.output(stream, content, channelNumber, offset, time);
  }

  private byte[] payload(int length) throws IOException {
    if (length == 0) {
      return EMPTY;
    }
    byte[] payload = new byte[length];
    int have = Math.min(length, end - start);
    System.arraycopy(buffer, start, payload, 0, have);
    start += have;
    while (have < length) {
      have += read(payload, have, length - have);
    }
    return payload;
  }

  private ByteBuffer block(int length) throws IOException {
    ByteBuffer block = BufferPool.SHARED.acquire(length);
    boolean filled = false;
    try {
      int have = Math.min(length, end - start);
      block.limit(length).put(buffer, start, have);
      start += have;
      while (block.hasRemaining()) {
        require(channel.read(block) >= 0);
      }
      filled = true;
      return block.flip();
    } finally {
      if (!filled) {
        BufferPool.SHARED.release(block);
      }
    }
  }

  /** Waits until {@code count} bytes are in the buffer. */
  private void require(int count) throws IOException {
    if (end - start >= count) {
      return;
    }
    System.arraycopy(buffer, start, buffer, 0, end - start);
    end -= start;
    start = 0;
    while (end < count) {
      end += read(buffer, end, buffer.length - end);
    }
  }

  private int read(byte[] target, int offset, int length) throws IOException {
    int count = channel.read(ByteBuffer.wrap(target, offset, length));
    require(count >= 0);
    return count;
  }

  private static void require(boolean available) throws EOFException {
    if (!available) {
      throw new EOFException("the agent closed the connection");
    }
  }
}
