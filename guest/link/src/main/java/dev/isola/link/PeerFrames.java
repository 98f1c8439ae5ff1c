package dev.isola.link;

import java.nio.ByteBuffer;
import java.util.function.Consumer;

/** Divides the bytes of a peer into frames. Lengths are checked before anything is allocated. */
final class PeerFrames {
  private final Consumer<Frame> handler;
  private final ByteBuffer header = ByteBuffer.allocate(Wire.HEADER);
  private ByteBuffer payload = ByteBuffer.allocate(0);

  PeerFrames(Consumer<Frame> handler) {
    this.handler = handler;
  }

  /**
   * Passes every frame that is complete to the handler.
   *
   * @throws ProtocolViolation when a frame is larger than allowed
   */
  void add(ByteBuffer bytes) {
    while (bytes.hasRemaining()) {
      if (header.hasRemaining()) {
        copy(bytes, header);
        if (header.hasRemaining()) {
          return;
        }
        int length = header.getInt(0);
        if (length < 0 || length > Wire.FRAME_MAX) {
          throw new ProtocolViolation("a frame of " + (length & 0xffff_ffffL) + " bytes");
        }
        payload = ByteBuffer.allocate(length);
      }
      copy(bytes, payload);
      if (!payload.hasRemaining()) {
        Frame frame = new Frame(header.get(4) & 0xff, header.getInt(5), payload.array());
        header.clear();
        handler.accept(frame);
      }
    }
  }

  private static void copy(ByteBuffer from, ByteBuffer to) {
    int count = Math.min(from.remaining(), to.remaining());
    to.put(to.position(), from, from.position(), count);
    to.position(to.position() + count);
    from.position(from.position() + count);
  }
}
