package dev.isola.link;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One frame as it was read.
 *
 * @param payload for OUTPUT the bytes after its header, otherwise everything; empty where there is
 *     a block
 * @param channel of OUTPUT
 * @param offset of OUTPUT
 * @param timeNs of OUTPUT
 * @param block the content of a large DATA frame, to be given back by {@link #release()}
 */
@SuppressWarnings("ArrayRecordComponent") // Handed on once, never compared.
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

  /** Returns what the frame costs of the receiver's credit. */
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

  /** Gives the block back, if there is one. Called once, by whoever had the frame last. */
  void release() {
    if (buffer != null) {
      BufferPool.SHARED.release(buffer);
    }
  }
}
