package dev.isola.provider.e2b.rpc;

import dev.isola.provider.e2b.http.Faults;
import dev.isola.provider.e2b.http.Json;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * The messages of a stream: a byte of flags, a length, JSON. A stream that ends without saying so
 * was cut off.
 */
public final class Frames implements AutoCloseable {
  static final String TYPE = "application/connect+json";
  private static final int HEAD = 5;
  private static final int LARGEST = 8 << 20;
  private static final int END = 2;

  private final InputStream in;

  Frames(InputStream in) {
    this.in = in;
  }

  /** Returns one message as it goes over the wire. */
  static byte[] framed(byte[] json) {
    return ByteBuffer.allocate(HEAD + json.length)
        .put((byte) 0)
        .putInt(json.length)
        .put(json)
        .array();
  }

  /**
   * Waits for the next message; empty at the end.
   *
   * @throws RpcError when the end has a reason
   * @throws IOException when the stream was cut off, or is none
   */
  public Optional<JsonNode> next() throws IOException, RpcError {
    byte[] head = in.readNBytes(HEAD);
    if (head.length < HEAD) {
      throw new EOFException("the stream was cut off");
    }
    int length = ByteBuffer.wrap(head).getInt(1);
    if (length < 0 || length > LARGEST || (head[0] & 1) != 0) {
      throw new IOException("the stream has a message that cannot be one");
    }
    byte[] body = in.readNBytes(length);
    if (body.length < length) {
      throw new EOFException("the stream was cut off");
    }
    JsonNode message = Json.read(body);
    if ((head[0] & END) == 0) {
      return Optional.of(message);
    }
    JsonNode error = message.path("error");
    if (error.isObject()) {
      throw error(error);
    }
    return Optional.empty();
  }

  /** Reads what follows the last message that matters, so that the connection can be used again. */
  public void finish() {
    try {
      while (next().isPresent()) {
        // nothing of it matters any more
      }
      if (in.read() >= 0) {
        close();
      }
    } catch (IOException | RpcError e) {
      close();
    }
  }

  static RpcError error(JsonNode error) {
    return new RpcError(
        Json.text(error, "code").orElse("unknown"),
        Faults.line(Json.text(error, "message").orElse("no reason is given")));
  }

  @Override
  public void close() {
    try {
      in.close();
    } catch (IOException e) {
      // it is not read any more
    }
  }
}
