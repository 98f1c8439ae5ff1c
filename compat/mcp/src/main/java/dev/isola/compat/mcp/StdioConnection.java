package dev.isola.compat.mcp;

import dev.isola.codec.json.Json;
import dev.isola.server.limit.ByteBudget;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The connection to the standard input and output of a hosted server. One thread reads and one
 * writes, so that neither a server that stops reading nor one that floods blocks a client. Closing
 * the connection detaches; the server continues.
 */
final class StdioConnection implements AutoCloseable {
  /** Receives what the server writes, on the thread that reads. */
  interface Listener extends MessageLines.Receiver {
    /** The output from here on was written after this connection was opened. */
    void caughtUp();

    /**
     * The server has exited, or the connection was lost.
     *
     * @param exit empty if the connection was lost
     */
    void ended(StdioConnection connection, Optional<Exit> exit, String reason);
  }

  private final Execution execution;
  private final Listener listener;
  private final long replayEnd;
  private final MessageLines lines;
  private final LinkedBlockingQueue<byte[]> input = new LinkedBlockingQueue<>();
  private final AtomicLong inputBytes = new AtomicLong();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Thread reader;
  private final Thread writer;
  private volatile long offset;

  /**
   * @param offset where the output of the execution is read from
   * @param replayEnd up to which the output was written before this connection was opened
   */
  StdioConnection(
      Execution execution, long offset, long replayEnd, ByteBudget budget, Listener listener) {
    this.execution = execution;
    this.offset = offset;
    this.replayEnd = replayEnd;
    this.listener = listener;
    lines = new MessageLines(HostingLimits.MAX_MESSAGE, budget, listener);
    reader = Thread.ofVirtual().name("isola-mcp-reader").unstarted(this::read);
    writer = Thread.ofVirtual().name("isola-mcp-writer").unstarted(this::write);
  }

  void start() {
    reader.start();
    writer.start();
  }

  ExecutionId execution() {
    return execution.id();
  }

  /** Returns where to continue reading after a later attach: at a chunk that begins a message. */
  long offset() {
    return offset;
  }

  /** Queues a message. Returns false if the server does not read, or has exited. */
  boolean send(Map<String, ?> json) {
    byte[] message = (Json.text(json) + "\n").getBytes(StandardCharsets.UTF_8);
    if (closed.get()) {
      return false;
    }
    if (inputBytes.addAndGet(message.length) > HostingLimits.MAX_INPUT) {
      inputBytes.addAndGet(-message.length);
      return false;
    }
    return input.offer(message);
  }

  boolean isClosed() {
    return closed.get();
  }

  /** Returns whether messages wait until the server reads. */
  boolean hasInput() {
    return inputBytes.get() > 0;
  }

  void kill() {
    execution.kill();
  }

  private void read() {
    ReadThrottle throttle = new ReadThrottle();
    boolean live = replayEnd <= offset;
    if (live) {
      listener.caughtUp();
    }
    try {
      for (Optional<Output> next = execution.read(); next.isPresent(); next = execution.read()) {
        long start = next.get().offset();
        switch (next.get()) {
          case Output.Gap _ -> lines.skipLine();
          case Output.Data data -> {
            boolean begun = lines.isPartial();
            Bytes bytes = data.bytes();
            if (data.channel() == Channel.STDOUT) {
              lines.add(bytes);
            }
            throttle.take(count(bytes), bytes.size());
            if (!lines.isPartial()) {
              offset = data.end();
            } else if (!begun) {
              offset = start;
            }
          }
        }
        if (!live && next.get().end() >= replayEnd) {
          live = true;
          listener.caughtUp();
        }
      }
      Exit exit = execution.await();
      end(Optional.of(exit), CommandTools.describe(exit));
    } catch (SandboxException e) {
      end(Optional.empty(), e.fault().problem());
    } finally {
      lines.close();
    }
  }

  private static int count(Bytes bytes) {
    int lines = 1; // many small chunks cost as much as many lines
    for (int i = 0; i < bytes.size(); i++) {
      if (bytes.at(i) == '\n') {
        lines++;
      }
    }
    return lines;
  }

  private void end(Optional<Exit> exit, String reason) {
    if (closed.compareAndSet(false, true)) {
      writer.interrupt();
      execution.close();
      listener.ended(this, exit, reason);
    }
  }

  private void write() {
    // Not closed: that would end the input of the server.
    @SuppressWarnings("resource")
    OutputStream out = execution.stdin();
    try {
      while (!closed.get()) {
        byte[] message = input.take();
        out.write(message);
        out.flush();
        inputBytes.addAndGet(-message.length);
      }
    } catch (IOException e) {
      // The server has exited or closed its input; the reader reports the exit, and requests time
      // out.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closed
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      reader.interrupt();
      writer.interrupt();
      execution.close();
    }
  }
}
