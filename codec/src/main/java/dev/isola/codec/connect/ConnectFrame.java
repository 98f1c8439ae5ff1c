package dev.isola.codec.connect;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Optional;

/** A message of a Connect stream: one byte of flags, a four-byte length, and JSON. */
public final class ConnectFrame {
  public static final String MEDIA_TYPE = "application/connect+json";

  private static final int HEAD = 5;
  private static final int COMPRESSED = 1;
  private static final int END = 2;

  /** Thrown for bytes that are not a frame, and for a frame that is too large or compressed. */
  public static final class MalformedFrame extends IOException {
    private static final long serialVersionUID = 1L;

    MalformedFrame(String what) {
      super(what);
    }
  }

  private final int flags;
  private final byte[] json;

  private ConnectFrame(int flags, byte[] json) {
    this.flags = flags;
    this.json = json;
  }

  /** Returns whether this is the last message, which tells how the stream ended. */
  public boolean isEnd() {
    return (flags & END) != 0;
  }

  public byte[] json() {
    return json;
  }

  /** Encodes a message for the wire. */
  public static byte[] message(byte[] json) {
    return bytes(0, json);
  }

  /** Encodes the last message of a stream for the wire. */
  public static byte[] end(byte[] json) {
    return bytes(END, json);
  }

  private static byte[] bytes(int flags, byte[] json) {
    return ByteBuffer.allocate(HEAD + json.length)
        .put((byte) flags)
        .putInt(json.length)
        .put(json)
        .array();
  }

  /**
   * Reads the next frame. Returns empty if the stream ends before it.
   *
   * @param largest the maximum number of JSON bytes in a frame
   * @throws MalformedFrame if the frame is larger or compressed
   * @throws EOFException if the stream ends within the frame
   */
  public static Optional<ConnectFrame> read(InputStream in, int largest) throws IOException {
    byte[] head = new byte[HEAD];
    int read = in.readNBytes(head, 0, HEAD);
    if (read == 0) {
      return Optional.empty();
    }
    if (read < HEAD) {
      throw cutOff();
    }
    int flags = head[0];
    int length = ByteBuffer.wrap(head).getInt(1);
    if (length < 0 || length > largest) {
      throw new MalformedFrame("a message is larger than " + largest + " bytes");
    }
    if ((flags & COMPRESSED) != 0) {
      throw new MalformedFrame("compressed messages are not supported");
    }
    // readNBytes(length) ends with a read of zero bytes, for which Jetty waits for more input.
    byte[] json = new byte[length];
    if (in.readNBytes(json, 0, length) < length) {
      throw cutOff();
    }
    return Optional.of(new ConnectFrame(flags, json));
  }

  private static EOFException cutOff() {
    return new EOFException("the stream was cut off");
  }
}
