package dev.isola.provider.e2b.rpc;

import dev.isola.codec.connect.ConnectFrame;
import dev.isola.codec.json.JsonValue;
import dev.isola.provider.e2b.http.HttpErrors;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/** A stream of messages of the Connect protocol. A stream without an end message was cut off. */
public final class MessageStream implements AutoCloseable {
  private static final int MAX_MESSAGE = 8 << 20;

  private final InputStream in;

  MessageStream(InputStream in) {
    this.in = in;
  }

  /**
   * Waits for the next message; empty at the end.
   *
   * @throws RpcError if the stream ended with an error
   * @throws IOException if the stream was cut off or is malformed
   */
  public Optional<JsonValue> next() throws IOException, RpcError {
    ConnectFrame frame =
        ConnectFrame.read(in, MAX_MESSAGE)
            .orElseThrow(() -> new EOFException("the stream ended unexpectedly"));
    JsonValue message = JsonValue.parse(frame.json());
    if (!frame.isEnd()) {
      return Optional.of(message);
    }
    JsonValue error = message.at("error");
    if (error.isObject()) {
      throw error(error);
    }
    return Optional.empty();
  }

  /** Reads the rest of the stream, so that the connection can be reused. */
  public void finish() {
    try {
      while (next().isPresent()) {
        // The rest is irrelevant.
      }
      if (in.read() >= 0) {
        close();
      }
    } catch (IOException | RpcError e) {
      close();
    }
  }

  static RpcError error(JsonValue error) {
    return new RpcError(
        error.optionalText("code").orElse("unknown"),
        HttpErrors.line(error.optionalText("message").orElse("no reason was given")));
  }

  @Override
  public void close() {
    try {
      in.close();
    } catch (IOException e) {
      // The stream is no longer read.
    }
  }
}
