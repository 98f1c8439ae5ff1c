package dev.isola.server.api;

import dev.isola.server.route.Exchange;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import java.io.IOException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Takes the output of an execution to a reader who may be slow, or gone. A few pieces are in
 * between and no more: then the execution is held back. One thread waits for the command, the other
 * for the reader, so that neither silence hides that the other is gone.
 */
final class OutputFeed implements AutoCloseable {
  private static final int PIECES = 16;
  private static final long LOOK_UP_MS = 500;

  private sealed interface Item {
    record Piece(Output output) implements Item {}

    record End(Exit exit) implements Item {}

    record Failed(SandboxException why) implements Item {}
  }

  private final Execution execution;
  private final BooleanSupplier ending;
  private final BlockingQueue<Item> items = new ArrayBlockingQueue<>(PIECES);
  private final Thread reader;

  private OutputFeed(Execution execution, BooleanSupplier ending) {
    this.execution = execution;
    this.ending = ending;
    reader = Thread.ofVirtual().name("isola-output").unstarted(this::read);
  }

  static OutputFeed of(Execution execution, BooleanSupplier ending) {
    OutputFeed feed = new OutputFeed(execution, ending);
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

  /** Sends everything until the command has ended, the reader is gone, or the server ends. */
  void follow(Exchange exchange, long from) throws IOException {
    long offset = from;
    try (Sse sse = Sse.begin(exchange)) {
      long spoke = System.nanoTime();
      while (!ending.getAsBoolean()) {
        Item item = items.poll(LOOK_UP_MS, TimeUnit.MILLISECONDS);
        switch (item) {
          case null -> {
            if (System.nanoTime() - spoke > Sse.BREATH.toNanos()) {
              sse.breathe();
              spoke = System.nanoTime();
            }
          }
          case Item.Piece(Output output) -> {
            offset = output.end();
            send(sse, output);
            spoke = System.nanoTime();
          }
          case Item.End(Exit exit) -> {
            Map<String, Object> data = Answers.exit(exit);
            data.put("exitCode", exit.shellCode());
            data.put("durationMs", execution.duration().toMillis());
            sse.send("exit", Long.toString(offset), data);
            return;
          }
          case Item.Failed(SandboxException why) -> {
            Map<String, Object> data = new LinkedHashMap<>();
            data.put("code", why.code().name());
            data.put("detail", why.fault().what());
            data.put("remedy", why.fault().remedy());
            sse.send("error", Long.toString(offset), data);
            return;
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the server ends
    }
  }

  private static void send(Sse sse, Output output) throws IOException {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("offset", output.offset());
    switch (output) {
      case Output.Data piece -> {
        data.put("channel", Answers.word(piece.channel()));
        data.put("at", piece.at().toString());
        String text = piece.bytes().utf8();
        boolean plain = Bytes.utf8(text).equals(piece.bytes());
        data.put("encoding", plain ? "utf8" : "base64");
        data.put(
            "data", plain ? text : Base64.getEncoder().encodeToString(piece.bytes().toArray()));
        sse.send("output", Long.toString(output.end()), data);
      }
      case Output.Gap gap -> {
        data.put("lost", gap.lost());
        sse.send("gap", Long.toString(output.end()), data);
      }
    }
  }

  @Override
  public void close() {
    reader.interrupt();
    execution.close();
  }
}
