package dev.isola.codec.connect;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Optional;

/** One message of a Connect stream: a byte of flags, a length of four bytes, and JSON. */
public final class ConnectFrame {
  public static final String MEDIA_TYPE = "application/connect+json";

  private static final int HEAD = 5;
  private static final int COMPRESSED = 1;
  private static final int END = 2;

  /** Thrown for bytes that are not a frame, or for a frame that is refused. */
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

  /** Whether this is the last one, which says how the stream ended. */
  public boolean isEnd() {
    return (flags & END) != 0;
  }

  public byte[] json() {
    return json;
  }

  /** Returns a message as it goes over the wire. */
  public static byte[] message(byte[] json) {
    return bytes(0, json);
  }

  /** Returns the last message of a stream as it goes over the wire. */
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
   * Reads the next frame; empty where the stream ends before one.
   *
   * @param largest how many bytes of JSON a frame may have
   * @throws MalformedFrame when it is larger or compressed
   * @throws EOFException when the stream ends in the middle of it
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
      throw new MalformedFrame("a message has at most " + largest + " bytes");
    }
    if ((flags & COMPRESSED) != 0) {
      throw new MalformedFrame("messages are not compressed here");
    }
    // Not readNBytes(length), which asks for nothing in the end: Jetty waits for more even then.
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
