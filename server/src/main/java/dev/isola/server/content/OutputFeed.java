package dev.isola.server.content;

import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Takes the output of an execution to a reader who may be slow, or gone. A few pieces are in
 * between and no more: then the execution is held back. One thread waits for the command, the other
 * for the reader, so that neither silence hides that the other is gone.
 */
public final class OutputFeed implements AutoCloseable {
  private static final int PIECES = 16;

  /** What an execution has to tell. */
  public sealed interface Item {
    /** Something that it wrote. */
    record Piece(Output output) implements Item {}

    /** How it ended; nothing follows. */
    record End(Exit exit) implements Item {}

    /** It was lost; nothing follows. */
    record Failed(SandboxException why) implements Item {}
  }

  private final Execution execution;
  private final BlockingQueue<Item> items = new ArrayBlockingQueue<>(PIECES);
  private final Thread reader;

  private OutputFeed(Execution execution) {
    this.execution = execution;
    reader = Thread.ofVirtual().name("isola-output").unstarted(this::read);
  }

  /** Begins to read an execution, which is let go of with the feed. */
  public static OutputFeed of(Execution execution) {
    OutputFeed feed = new OutputFeed(execution);
    feed.reader.start();
    return feed;
  }

  private void read() {
    try {
      try {
        for (Optional<Output> piece = execution.read();
            piece.isPresent();
            piece = execution.read()) {
          items.put(new Item.Piece(piece.get()));
        }
        items.put(new Item.End(execution.await()));
      } catch (SandboxException e) {
        items.put(new Item.Failed(e));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // nobody reads any more
    }
  }

  /** Waits for what comes next; nothing when it takes longer. */
  public @Nullable Item next(Duration patience) throws InterruptedException {
    return items.poll(patience.toNanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  public void close() {
    reader.interrupt();
    execution.close();
  }
}
