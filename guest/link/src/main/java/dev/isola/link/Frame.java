package dev.isola.link;

/**
 * One frame as it was read.
 *
 * @param payload for OUTPUT the bytes after its header, otherwise everything
 * @param channel of OUTPUT
 * @param offset of OUTPUT
 * @param timeNs of OUTPUT
 */
@SuppressWarnings("ArrayRecordComponent") // Handed on once, never compared.
record Frame(int type, int stream, byte[] payload, int channel, long offset, long timeNs) {
  Frame(int type, int stream, byte[] payload) {
    this(type, stream, payload, 0, 0, 0);
  }

  /** Returns what the frame costs of the receiver's credit. */
  int cost() {
    return switch (type) {
      case Wire.DATA, Wire.ITEM -> payload.length;
      case Wire.OUTPUT -> payload.length + Wire.OUTPUT_HEADER;
      default -> 0;
    };
  }

  boolean terminal() {
    return type == Wire.END || type == Wire.ERROR;
  }
}
