package dev.isola.link;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Both readers of frames, the server's for agents and the one for peers, divide bytes into the same
 * frames, and a frame that is encoded again has the same bytes.
 */
public final class AgentFrameFuzz {
  /** Returns the input in pieces, whose length varies. */
  private static final class Pieces implements AgentChannel {
    private final ByteBuffer input;
    private int piece;

    Pieces(byte[] input) {
      this.input = ByteBuffer.wrap(input);
    }

    @Override
    public int read(ByteBuffer target) {
      if (!input.hasRemaining()) {
        return -1;
      }
      piece = piece * 7 % 61 + 1;
      int count = Math.min(piece, Math.min(input.remaining(), target.remaining()));
      target.put(input.slice(input.position(), count));
      input.position(input.position() + count);
      return count;
    }

    @Override
    public void write(ByteBuffer source) {
      source.position(source.limit());
    }

    @Override
    public boolean isConnectionOriented() {
      return true;
    }

    @Override
    public boolean supportsVirtualThreads() {
      return true;
    }

    @Override
    public void close() {}
  }

  private AgentFrameFuzz() {}

  public static void fuzzerTestOneInput(byte[] input) throws IOException {
    List<byte[]> fromAgent = new ArrayList<>();
    FrameReader reader = new FrameReader(new Pieces(input), stream -> stream % 2 == 1);
    try {
      while (true) {
        Frame frame = reader.next();
        fromAgent.add(frame.encode(frame.stream()));
        frame.release();
      }
    } catch (EOFException | ProtocolViolation e) {
      // The end of the input, or of what is valid in it.
    }
    List<byte[]> fromPeer = new ArrayList<>();
    try {
      new PeerFrames(frame -> fromPeer.add(frame.encode(frame.stream())))
          .add(ByteBuffer.wrap(input));
    } catch (ProtocolViolation e) {
      // Likewise.
    }
    int at = 0;
    for (int i = 0; i < fromAgent.size(); i++) {
      byte[] frame = fromAgent.get(i);
      require(Arrays.equals(frame, 0, frame.length, input, at, at + frame.length));
      require(i < fromPeer.size() && isSame(frame, fromPeer.get(i)));
      at += frame.length;
      readFields(Arrays.copyOfRange(frame, Wire.HEADER, frame.length));
    }
  }

  /** An OUTPUT frame of a peer is not parsed, and is encoded with a header that it has already. */
  private static boolean isSame(byte[] agent, byte[] peer) {
    return agent[4] == Wire.OUTPUT || Arrays.equals(agent, peer);
  }

  private static void readFields(byte[] payload) {
    WireFields fields;
    try {
      fields = WireFields.parse(payload);
    } catch (ProtocolViolation e) {
      return;
    }
    int length = 0;
    for (int tag = 0; tag < 256; tag++) {
      for (String text : fields.texts(tag)) {
        length += text.length();
      }
      require(fields.texts(tag).isEmpty() != fields.has(tag));
      require(fields.optionalText(tag).isPresent() == fields.has(tag));
      try {
        require(fields.count(tag) >= 0);
        require(fields.range(tag, 1, 4) <= 4);
      } catch (ProtocolViolation e) {
        // Not a number, or another one.
      }
    }
    require(length <= payload.length);
  }

  private static void require(boolean condition) {
    if (!condition) {
      throw new AssertionError("the readers of frames disagree");
    }
  }
}
