package dev.isola.server.content;

import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Passes the output of an execution to a client that may be slow or disconnected. A few items are
 * queued; then the execution is held back. One thread waits for the command and another for the
 * client, so that each can detect the end of the other.
 */
public final class OutputFeed implements AutoCloseable {
  private static final int QUEUE_SIZE = 16;

  /** An element of the output. */
  public sealed interface Item {
    /** Output of the command. */
    record Piece(Output output) implements Item {}

    /** The exit status. Nothing follows. */
    record End(Exit exit) implements Item {}

    /** The execution was lost. Nothing follows. */
    record Failed(SandboxException why) implements Item {}
  }

  private final Execution execution;
  private final BlockingQueue<Item> items = new ArrayBlockingQueue<>(QUEUE_SIZE);
  private final Thread reader;

  private OutputFeed(Execution execution) {
    this.execution = execution;
    reader = Thread.ofVirtual().name("isola-output").unstarted(this::read);
  }

  /** Starts reading an execution, which is closed together with the feed. */
  public static OutputFeed of(Execution execution) {
    OutputFeed feed = new OutputFeed(execution);
    feed.reader.start();
    return feed;
  }

  private void read() {
    try {
      try {
        items.put(new Item.End(execution.follow(output -> items.put(new Item.Piece(output)))));
      } catch (SandboxException e) {
        items.put(new Item.Failed(e));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the feed was closed
    }
  }

  /** Waits for the next item; null if there is none within the timeout. */
  public @Nullable Item next(Duration timeout) throws InterruptedException {
    return items.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  public void close() {
    reader.interrupt();
    execution.close();
  }
}
