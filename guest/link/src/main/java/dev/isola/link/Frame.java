package dev.isola.link;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A received frame.
 *
 * @param payload for OUTPUT the bytes after its header, otherwise all bytes; empty when there is a
 *     buffer
 * @param channel of OUTPUT
 * @param offset of OUTPUT
 * @param timeNs of OUTPUT
 * @param buffer the content of a large DATA frame, returned to the pool by {@link #release()}
 */
@SuppressWarnings("ArrayRecordComponent") // Passed on once, never compared.
record Frame(
    int type,
    int stream,
    byte[] payload,
    int channel,
    long offset,
    long timeNs,
    @Nullable ByteBuffer buffer) {
  private static final byte[] EMPTY = {};

  Frame(int type, int stream, byte[] payload) {
    this(type, stream, payload, 0, 0, 0, null);
  }

  static Frame output(int stream, byte[] content, int channel, long offset, long timeNs) {
    return new Frame(Wire.OUTPUT, stream, content, channel, offset, timeNs, null);
  }

  static Frame large(int stream, ByteBuffer block) {
    return new Frame(Wire.DATA, stream, EMPTY, 0, 0, 0, block);
  }

  /** Returns the whole frame for another stream. */
  byte[] encode(int number) {
    int head = type == Wire.OUTPUT ? Wire.HEADER + Wire.OUTPUT_HEADER : Wire.HEADER;
    ByteBuffer content = content();
    byte[] frame = new byte[head + content.remaining()];
    content.get(frame, head, content.remaining());
    if (type == Wire.OUTPUT) {
      frame[Wire.HEADER] = (byte) channel;
      Wire.putLong(frame, Wire.HEADER + 1, offset);
      Wire.putLong(frame, Wire.HEADER + 9, timeNs);
    }
    return Wire.header(frame, type, number);
  }

  /** Returns how much of the receiver's credit the frame uses. */
  int cost() {
    return switch (type) {
      case Wire.DATA -> buffer == null ? payload.length : buffer.remaining();
      case Wire.ITEM -> payload.length;
      case Wire.OUTPUT -> payload.length + Wire.OUTPUT_HEADER;
      default -> 0;
    };
  }

  /** Returns the content of a DATA frame. */
  ByteBuffer content() {
    return buffer == null ? ByteBuffer.wrap(payload) : buffer.slice();
  }

  boolean isTerminal() {
    return type == Wire.END || type == Wire.ERROR;
  }

  /** Returns the buffer, if any, to the pool. Called once, by the last user of the frame. */
  void release() {
    if (buffer != null) {
      BufferPool.SHARED.release(buffer);
    }
  }
}
