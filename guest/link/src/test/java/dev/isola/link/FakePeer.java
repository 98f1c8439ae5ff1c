package dev.isola.link;

import dev.isola.spi.Secret;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.util.Arrays;

/** One connection, from the side of the fake agent. */
final class FakePeer {
  final byte[] nonce = new byte[Wire.NONCE_SIZE];
  private final ByteChannel channel;
  private final Secret secret;

  FakePeer(ByteChannel channel, Secret secret) {
    this.channel = channel;
    this.secret = secret;
    Arrays.fill(nonce, (byte) 7);
  }

  void completeHandshake() throws IOException {
    challenge();
    welcome(read());
  }

  void challenge() throws IOException {
    raw(
        new WireFieldsBuilder()
            .add(FieldTag.MAGIC, Wire.MAGIC_TEXT)
            .add(FieldTag.VERSION_MIN, 1)
            .add(FieldTag.VERSION_MAX, 1)
            .add(FieldTag.NONCE, nonce)
            .frame(Wire.CHALLENGE, 0));
  }

  void welcome(Frame hello) throws IOException {
    welcome(hello, secret);
  }

  void welcome(Frame hello, Secret key) throws IOException {
    WireFields fields = WireFields.parse(hello.payload());
    byte[] theirs = fields.bytes(FieldTag.NONCE);
    byte[] expected = Handshake.proof(secret, Wire.SERVER_TEXT, nonce, theirs);
    if (hello.type() != Wire.HELLO || !Arrays.equals(expected, fields.bytes(FieldTag.PROOF))) {
      throw new AssertionError("the server did not prove itself");
    }
    raw(
        new WireFieldsBuilder()
            .add(FieldTag.PROOF, Handshake.proof(key, Wire.MAGIC_TEXT, theirs, nonce))
            .add(FieldTag.VERSION, 1)
            .add(FieldTag.BUILD, "fake")
            .add(FieldTag.PID, 1)
            .add(FieldTag.WINDOW, Wire.FRAME_MAX)
            .frame(Wire.WELCOME, 0));
  }

  /** Waits for a REQUEST and answers pings in the meantime. */
  Frame request() throws IOException {
    return awaitType(Wire.REQUEST);
  }

  Frame awaitType(int type) throws IOException {
    while (true) {
      Frame frame = read();
      if (frame.type() == Wire.PING) {
        send(Wire.PONG, 0, frame.payload());
      } else if (frame.type() == type) {
        return frame;
      }
    }
  }

  /** Answers pings until the link closes the connection. */
  void answerPings() throws IOException {
    awaitType(255);
  }

  /** Reads without answering, until the link closes the connection. */
  void silence() throws IOException {
    while (true) {
      read();
    }
  }

  void response(int stream, WireFieldsBuilder fields) throws IOException {
    raw(fields.frame(Wire.RESPONSE, stream));
  }

  void end(int stream, WireFieldsBuilder fields) throws IOException {
    raw(fields.frame(Wire.END, stream));
  }

  void end(int stream) throws IOException {
    end(stream, new WireFieldsBuilder());
  }

  void exit(int stream, int code) throws IOException {
    end(
        stream,
        new WireFieldsBuilder()
            .add(FieldTag.EXIT_KIND, 0)
            .add(FieldTag.EXIT_CODE, code)
            .add(FieldTag.DURATION_NS, 1_000_000));
  }

  void started(int stream) throws IOException {
    response(
        stream,
        new WireFieldsBuilder()
            .add(FieldTag.EXECUTION, 5)
            .add(FieldTag.PID, 55)
            .add(FieldTag.TIME_NS, 1));
  }

  void output(int stream, int outputChannel, long offset, byte[] bytes) throws IOException {
    byte[] payload = new byte[Wire.OUTPUT_HEADER + bytes.length];
    payload[0] = (byte) outputChannel;
    Wire.putLong(payload, 1, offset);
    Wire.putLong(payload, 9, 1_000_000_000L);
    System.arraycopy(bytes, 0, payload, Wire.OUTPUT_HEADER, bytes.length);
    send(Wire.OUTPUT, stream, payload);
  }

  void error(int stream, int code, String message) throws IOException {
    error(stream, code, 0, message);
  }

  void error(int stream, int code, int errno, String message) throws IOException {
    raw(
        new WireFieldsBuilder()
            .add(FieldTag.CODE, code)
            .add(FieldTag.ERRNO, errno)
            .add(FieldTag.MESSAGE, message)
            .frame(Wire.ERROR, stream));
  }

  void bye(String reason) throws IOException {
    raw(new WireFieldsBuilder().add(FieldTag.REASON, reason).frame(Wire.BYE, 0));
  }

  void send(int type, int stream, byte[] payload) throws IOException {
    raw(Wire.frame(type, stream, payload));
  }

  void raw(byte[] bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }

  Frame read() throws IOException {
    byte[] header = bytes(Wire.HEADER);
    return new Frame(header[4] & 0xff, Wire.getInt(header, 5), bytes(Wire.getInt(header, 0)));
  }

  /** Reads what a server sends first on a virtio port. */
  void awaitReset() throws IOException {
    byte[] expected = new byte[Wire.HEADER];
    Arrays.fill(expected, (byte) 0xff);
    if (!Arrays.equals(bytes(Wire.HEADER), expected)) {
      throw new AssertionError("the server did not start with a reset");
    }
  }

  byte[] bytes(int count) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(count);
    while (buffer.hasRemaining()) {
      if (channel.read(buffer) < 0) {
        throw new EOFException();
      }
    }
    return buffer.array();
  }
}
