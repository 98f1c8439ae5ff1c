package dev.isola.server.route;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;

/**
 * An open WebSocket. One thread sends and one receives; both block, so nothing accumulates in
 * memory. Bytes may arrive in other pieces than they were sent in.
 */
public interface WebSocket {

  /** The largest accepted frame. */
  int LARGEST_FRAME = 64 * 1024;

  /** A received message. */
  sealed interface Message {
    /** Bytes; the receiver owns the array. */
    @SuppressWarnings("ArrayRecordComponent") // passed on once, never compared
    record Binary(byte[] bytes) implements Message {}

    record Text(String text) implements Message {}

    /** The peer closed the connection, or the connection was lost. Nothing follows. */
    record Closed() implements Message {}
  }

  /** Waits for the next message. */
  Message receive() throws InterruptedException;

  /**
   * Sends bytes; returns once they have been written.
   *
   * @throws IOException when the peer disconnected or did not read for too long
   */
  void send(ByteBuffer bytes) throws IOException;

  void send(String text) throws IOException;

  /** Sends a ping. */
  void ping() throws IOException;

  /** Returns how long the receiver has been waiting without a frame from the peer. */
  Duration idleTime();

  /** Sends a close frame. Does nothing if the socket is closed. */
  void close(int code, String reason);

  /** Closes the connection without a close frame. */
  void abort();

  /** Uses a socket; when it returns, the socket is closed. */
  interface Session {
    void run(WebSocket socket) throws InterruptedException;
  }
}
