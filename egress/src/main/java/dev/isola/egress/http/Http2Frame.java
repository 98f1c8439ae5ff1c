package dev.isola.egress.http;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.Arrays;
import java.util.Optional;

/** A frame of HTTP/2 (RFC 9113). */
@SuppressWarnings("ArrayRecordComponent")
record Http2Frame(int type, int flags, int stream, byte[] payload) {
  static final int DATA = 0;
  static final int HEADERS = 1;
  static final int PRIORITY = 2;
  static final int RST_STREAM = 3;
  static final int SETTINGS = 4;
  static final int PUSH_PROMISE = 5;
  static final int PING = 6;
  static final int GOAWAY = 7;
  static final int WINDOW_UPDATE = 8;
  static final int CONTINUATION = 9;

  static final int END_STREAM = 0x1;
  static final int ACK = 0x1;
  static final int END_HEADERS = 0x4;
  static final int PADDED = 0x8;
  static final int HAS_PRIORITY = 0x20;

  static final int NO_ERROR = 0;
  static final int PROTOCOL_ERROR = 1;
  static final int REFUSED_STREAM = 7;
  static final int CANCEL = 8;
  static final int COMPRESSION_ERROR = 9;
  static final int ENHANCE_YOUR_CALM = 11;

  /** The proxy lets neither side announce that it accepts longer frames. */
  static final int MAX_PAYLOAD = 16 * 1024;

  private static final int HEADER = 9;
  private static final int PRIORITY_BYTES = 5;

  /** A violation of the protocol, which ends the connection. */
  static final class ConnectionErrorException extends IOException {
    private static final long serialVersionUID = 1L;
    private final int code;

    ConnectionErrorException(int code, String problem) {
      super(problem);
      this.code = code;
    }

    int code() {
      return code;
    }
  }

  static ConnectionErrorException protocolError(String problem) {
    return new ConnectionErrorException(PROTOCOL_ERROR, problem);
  }

  /** Reads a frame; empty at the end of the connection. */
  static Optional<Http2Frame> read(ReadableByteChannel in) throws IOException {
    ByteBuffer header = ByteBuffer.allocate(HEADER);
    while (header.hasRemaining()) {
      if (in.read(header) < 0) {
        if (header.position() == 0) {
          return Optional.empty();
        }
        throw new EOFException("the connection ended within a frame");
      }
    }
    header.flip();
    int lengthAndType = header.getInt();
    int length = lengthAndType >>> 8;
    int flags = header.get() & 0xff;
    int stream = header.getInt() & Integer.MAX_VALUE;
    if (length > MAX_PAYLOAD) {
      throw protocolError("a frame is too long");
    }
    ByteBuffer payload = ByteBuffer.allocate(length);
    while (payload.hasRemaining()) {
      if (in.read(payload) < 0) {
        throw new EOFException("the connection ended within a frame");
      }
    }
    Http2Frame frame = new Http2Frame(lengthAndType & 0xff, flags, stream, payload.array());
    frame.verifyLength();
    return Optional.of(frame);
  }

  private void verifyLength() throws ConnectionErrorException {
    boolean valid =
        switch (type) {
          case PRIORITY -> payload.length == PRIORITY_BYTES;
          case RST_STREAM, WINDOW_UPDATE -> payload.length == Integer.BYTES;
          case PING -> payload.length == Long.BYTES;
          case GOAWAY -> payload.length >= Long.BYTES;
          case SETTINGS -> payload.length % 6 == 0 && (!has(ACK) || payload.length == 0);
          default -> true;
        };
    boolean onConnection = type == SETTINGS || type == PING || type == GOAWAY;
    boolean anywhere = type == WINDOW_UPDATE || type > CONTINUATION;
    if (!valid || (!anywhere && onConnection != (stream == 0))) {
      throw protocolError("a frame of type " + type + " is invalid");
    }
  }

  static Http2Frame ofInt(int type, int stream, int value) {
    return new Http2Frame(
        type, 0, stream, ByteBuffer.allocate(Integer.BYTES).putInt(value).array());
  }

  boolean has(int flag) {
    return (flags & flag) != 0;
  }

  int intPayload() {
    return ByteBuffer.wrap(payload).getInt() & Integer.MAX_VALUE;
  }

  /** Returns the payload of DATA or HEADERS without padding and priority. */
  byte[] content() throws ConnectionErrorException {
    int from = 0;
    int end = payload.length;
    if (has(PADDED)) {
      if (payload.length == 0) {
        throw protocolError("a frame has an invalid padding");
      }
      from = 1;
      end -= payload[0] & 0xff;
    }
    if (type == HEADERS && has(HAS_PRIORITY)) {
      from += PRIORITY_BYTES;
    }
    if (from > end) {
      throw protocolError("a frame has an invalid padding");
    }
    return Arrays.copyOfRange(payload, from, end);
  }

  ByteBuffer toBytes() {
    return ByteBuffer.allocate(HEADER + payload.length)
        .putInt((payload.length << 8) | type)
        .put((byte) flags)
        .putInt(stream)
        .put(payload)
        .flip();
  }
}
