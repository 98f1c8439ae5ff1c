package dev.isola.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;

/**
 * Publishes a stream as it arrives, each piece at once. {@code BodyPublishers.ofInputStream} holds
 * one piece back until it has read the next, which a dialogue never gets.
 */
final class StreamPublisher implements Flow.Publisher<ByteBuffer> {
  private static final int PIECE = 64 * 1024;
  private static final int PIECES = 4;

  private final InputStream content;
  private final SubmissionPublisher<ByteBuffer> publisher =
      new SubmissionPublisher<>(Thread::startVirtualThread, PIECES);

  StreamPublisher(InputStream content) {
    this.content = content;
  }

  /** Starts reading, on a daemon thread because a read of standard input cannot be interrupted. */
  @Override
  public void subscribe(Flow.Subscriber<? super ByteBuffer> subscriber) {
    publisher.subscribe(subscriber);
    Thread.ofPlatform().daemon().name("isola-send").start(this::pump);
  }

  private void pump() {
    byte[] buffer = new byte[PIECE];
    try {
      for (int count = content.read(buffer); count >= 0; count = content.read(buffer)) {
        if (!publisher.hasSubscribers()) {
          return; // the request has ended
        }
        int _ = publisher.submit(ByteBuffer.wrap(Arrays.copyOf(buffer, count)));
      }
      publisher.close();
    } catch (IOException e) {
      publisher.closeExceptionally(e);
    }
  }
}
