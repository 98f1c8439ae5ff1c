package dev.isola.egress.http;

import java.nio.ByteBuffer;
import java.util.OptionalInt;

/**
 * Changes the settings that one side sends to the other, so that what follows from them is within
 * the bounds of the proxy.
 */
final class Http2Settings {
  static final int MAX_STREAMS = 128;
  private static final int HEADER_TABLE_SIZE = 1;
  private static final int ENABLE_PUSH = 2;
  private static final int MAX_CONCURRENT_STREAMS = 3;
  private static final int INITIAL_WINDOW_SIZE = 4;
  private static final int MAX_FRAME_SIZE = 5;
  private static final int MAX_HEADER_LIST_SIZE = 6;
  private static final int MAX_TABLE = 4096;
  private static final int ENTRY = 6;

  private final boolean fromClient;
  private boolean begun;

  /** The window of a new stream that this side announced last, if it did. */
  private OptionalInt initialWindow = OptionalInt.empty();

  Http2Settings(boolean fromClient) {
    this.fromClient = fromClient;
  }

  OptionalInt initialWindow() {
    return initialWindow;
  }

  /** Returns a SETTINGS frame as it is passed on. Push and extensions are never agreed on. */
  Http2Frame change(Http2Frame frame) throws Http2Frame.ConnectionErrorException {
    ByteBuffer in = ByteBuffer.wrap(frame.payload());
    ByteBuffer out = ByteBuffer.allocate(frame.payload().length + ENTRY);
    if (!begun) {
      // Later entries of the same setting take precedence.
      begun = true;
      if (fromClient) {
        put(out, ENABLE_PUSH, 0);
      } else {
        put(out, MAX_CONCURRENT_STREAMS, MAX_STREAMS);
      }
    }
    while (in.hasRemaining()) {
      int name = in.getShort() & 0xffff;
      int value = in.getInt();
      switch (name) {
        case HEADER_TABLE_SIZE -> put(out, name, unsignedMin(value, MAX_TABLE));
        case MAX_CONCURRENT_STREAMS ->
            put(out, name, fromClient ? value : unsignedMin(value, MAX_STREAMS));
        case INITIAL_WINDOW_SIZE -> {
          if (value < 0) {
            throw Http2Frame.protocolError("the initial window is too large");
          }
          initialWindow = OptionalInt.of(value);
          put(out, name, value);
        }
        case MAX_FRAME_SIZE -> put(out, name, Http2Frame.MAX_PAYLOAD);
        case MAX_HEADER_LIST_SIZE -> put(out, name, unsignedMin(value, HttpGate.MAX_HEAD));
        default -> {}
      }
    }
    byte[] payload = new byte[out.position()];
    out.flip().get(payload);
    return new Http2Frame(Http2Frame.SETTINGS, 0, 0, payload);
  }

  private static int unsignedMin(int value, int most) {
    return Integer.compareUnsigned(value, most) < 0 ? value : most;
  }

  private static void put(ByteBuffer out, int name, int value) {
    out.putShort((short) name).putInt(value);
  }
}
