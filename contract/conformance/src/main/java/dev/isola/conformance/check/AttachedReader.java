package dev.isola.conformance.check;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.conformance.CheckFailed;
import dev.isola.conformance.Expect;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/**
 * Reads an execution in the background, checks that every byte arrives once, and leaves the command
 * running on close.
 */
final class AttachedReader implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private final Execution execution;
  private final ByteArrayOutputStream read = new ByteArrayOutputStream();
  private final AtomicReference<RuntimeException> failure = new AtomicReference<>();
  private final Thread reader;
  private volatile boolean closed;
  private final AtomicLong lost = new AtomicLong();

  /** Reads an execution that was just started, or attached to at offset 0. */
  AttachedReader(Execution execution) {
    this.execution = execution;
    this.reader = Thread.ofVirtual().name("reader").start(this::readAll);
  }

  static AttachedReader attach(Sandbox sandbox, ExecutionId id) {
    return new AttachedReader(sandbox.as(Attaching.class).orElseThrow().attach(id, 0));
  }

  private void readAll() {
    long position = 0;
    try {
      for (var next = execution.read(); next.isPresent(); next = execution.read()) {
        Output piece = next.get();
        Expect.equal(position, piece.offset(), "the offset of output after " + position + " bytes");
        position = piece.end();
        switch (piece) {
          case Output.Data data -> read.writeBytes(data.bytes().toArray());
          case Output.Gap gap -> lost.addAndGet(gap.lost());
        }
      }
    } catch (SandboxException | CheckFailed e) {
      if (!closed) {
        failure.set(e);
      }
    }
  }

  ExecutionId id() {
    return execution.id();
  }

  Execution execution() {
    return execution;
  }

  /** Returns what was read so far; fails if reading failed. */
  String text() {
    RuntimeException failed = failure.get();
    if (failed != null) {
      throw new CheckFailed("reading the output of " + id() + " failed: " + failed.getMessage());
    }
    return read.toString(UTF_8);
  }

  /** Returns the number of bytes that were no longer retained when the reader attached. */
  long lost() {
    return lost.get();
  }

  AttachedReader type(String text) {
    try {
      execution.stdin().write(text.getBytes(UTF_8));
      execution.stdin().flush();
      return this;
    } catch (IOException e) {
      throw new CheckFailed("writing to standard input of " + id() + " failed: " + e.getMessage());
    }
  }

  AttachedReader awaitText(String text) {
    await("'" + text + "' is printed", () -> text().contains(text));
    return this;
  }

  /** Waits until {@code condition} holds; fails if it does not when the output ends. */
  void await(String promise, BooleanSupplier condition) {
    try {
      Expect.eventually(TIMEOUT, promise, () -> !reader.isAlive() || condition.getAsBoolean());
      Expect.that(condition.getAsBoolean(), promise + " before the output ends");
    } catch (CheckFailed e) {
      String all = text();
      throw new CheckFailed(
          e.getMessage() + "; last was '" + all.substring(Math.max(0, all.length() - 200)) + "'");
    }
  }

  /** Waits for the end of the command and of its output. */
  Exit awaitExit() {
    try {
      if (!reader.join(TIMEOUT)) {
        throw new CheckFailed("the command " + id() + " does not end");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CheckFailed("interrupted while waiting for the end of " + id());
    }
    text();
    return execution
        .await(TIMEOUT)
        .orElseThrow(() -> new CheckFailed("the output of " + id() + " ended, but it did not"));
  }

  @Override
  public void close() {
    closed = true;
    reader.interrupt();
    execution.close();
  }
}
