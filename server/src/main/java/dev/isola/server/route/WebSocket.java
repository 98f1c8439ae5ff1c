package dev.isola.server.route;

import java.io.IOException;
import java.time.Duration;

/**
 * A WebSocket that is open. One thread sends and one receives; both wait for the other side, so
 * that nothing piles up here. Bytes may arrive in other pieces than they were sent in.
 */
public interface WebSocket {

  /** The largest frame that is taken. */
  int LARGEST_FRAME = 64 * 1024;

  /** Something that arrived. */
  sealed interface Message {
    /** Bytes, whose array is the receiver's. */
    @SuppressWarnings("ArrayRecordComponent") // handed over once, never compared
    record Binary(byte[] bytes) implements Message {}

    record Text(String text) implements Message {}

    /** Nothing more comes: the other side closed, or was lost. */
    record Closed() implements Message {}
  }

  /** Waits for the next message. */
  Message receive() throws InterruptedException;

  /**
   * Sends bytes; returns when they are on their way.
   *
   * @throws IOException when the other side is gone, or takes nothing for too long
   */
  void send(byte[] bytes, int from, int length) throws IOException;

  void send(String text) throws IOException;

  /** Asks the other side for a sign of life. */
  void ping() throws IOException;

  /** Returns how long the other side has been waited for without a word from it. */
  Duration idleTime();

  /** Says why, and closes. Does nothing when it is closed. */
  void close(int code, String reason);

  /** Closes at once, without a word. */
  void abort();

  /** What is done with a socket; when it returns, the socket is closed. */
  interface Session {
    void run(WebSocket socket) throws InterruptedException;
  }
}
