package dev.isola.server.api;

import dev.isola.engine.api.BuildLogEntry;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Runs a build on a thread of its own and passes its log to the thread that sends it to the client.
 * The build waits while the client is slow. Closing cancels the build and waits for its end.
 */
final class LogRelay implements AutoCloseable {
  private static final int MAX_WAITING = 256;
  private static final Duration CANCEL_TIMEOUT = Duration.ofMinutes(1);

  /** What a build reports. */
  sealed interface Message {
    record Line(BuildLogEntry line) implements Message {}

    /** The last message of a build that failed. */
    record Failed(RuntimeException reason) implements Message {}

    /** The last message of a build that succeeded. */
    record Succeeded() implements Message {}
  }

  private final BlockingQueue<Message> messages = new ArrayBlockingQueue<>(MAX_WAITING);
  private final Thread thread;

  private LogRelay(Consumer<Consumer<BuildLogEntry>> build) {
    thread = Thread.ofVirtual().name("isola-image-build").unstarted(() -> run(build));
  }

  static LogRelay start(Consumer<Consumer<BuildLogEntry>> build) {
    LogRelay relay = new LogRelay(build);
    relay.thread.start();
    return relay;
  }

  private void run(Consumer<Consumer<BuildLogEntry>> build) {
    Message end;
    try {
      build.accept(line -> put(new Message.Line(line)));
      end = new Message.Succeeded();
    } catch (RuntimeException e) {
      end = new Message.Failed(e);
    }
    try {
      put(end);
    } catch (SandboxException cancelled) {
      // The client has disconnected.
    }
  }

  private void put(Message message) {
    try {
      messages.put(message);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw cancelled(e);
    }
  }

  /** Waits for the next message; empty if none arrives in time. */
  Optional<Message> next(Duration timeout) {
    try {
      return Optional.ofNullable(messages.poll(timeout.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw cancelled(e);
    }
  }

  private static SandboxException cancelled(InterruptedException e) {
    return Fault.of(ErrorCode.CANCELLED, "the build was cancelled", "build again").exception(e);
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      boolean _ = thread.join(CANCEL_TIMEOUT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
