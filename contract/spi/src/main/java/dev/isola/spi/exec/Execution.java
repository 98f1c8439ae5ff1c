package dev.isola.spi.exec;

import dev.isola.spi.LimitKind;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * A running or ended command. Methods may be called from any thread, but only one thread at a time
 * may call {@link #read()} or {@link #await()}.
 *
 * <p>Output is subject to back-pressure: when the reader does not keep up and the bounded buffers
 * are full, the command blocks on its next write. Output is never dropped while a reader is
 * attached.
 *
 * <p>The command does not depend on this handle: {@link #close()} only detaches, and the command
 * keeps running. If the provider declares {@link dev.isola.spi.capability.Attaching}, any process
 * can attach to it again.
 */
public interface Execution extends AutoCloseable {

  ExecutionId id();

  /** Returns the process id inside the sandbox. */
  long pid();

  /**
   * Returns the standard input of the command. Closing the stream signals end of file. Writes block
   * while the command does not read, and throw {@code IOException} after the command has ended.
   * Data written after the command closed its input is discarded.
   */
  OutputStream stdin();

  /**
   * Waits for the next chunk of output. Returns empty once the command has ended and all output was
   * read.
   *
   * @throws dev.isola.spi.error.OutcomeUnknown if the sandbox was lost
   * @throws dev.isola.spi.error.DeadlineExceeded with {@code CANCELLED} if the thread is
   *     interrupted
   */
  Optional<Output> read();

  /**
   * Passes all output to {@code receiver} until the command has ended, and returns how it ended.
   *
   * @throws E if the receiver does; the command keeps running
   */
  default <E extends Exception> Exit follow(OutputReceiver<E> receiver) throws E {
    for (Optional<Output> piece = read(); piece.isPresent(); piece = read()) {
      receiver.accept(piece.get());
    }
    return await();
  }

  /**
   * Does the same as {@link #follow}, and closes this handle. The command does not outlive the
   * call: it is killed if the receiver or the sandbox fails, or the calling thread is interrupted.
   */
  default <E extends Exception> Exit followToEnd(OutputReceiver<E> receiver) throws E {
    boolean ended = false;
    try (this) {
      try {
        Exit exit = follow(receiver);
        ended = true;
        return exit;
      } finally {
        if (!ended) {
          kill();
        }
      }
    }
  }

  /** Waits for the command to end and discards unread output. Repeated calls return immediately. */
  Exit await();

  /** Like {@link #await()}, but returns empty after {@code timeout}; the command keeps running. */
  Optional<Exit> await(Duration timeout);

  /**
   * Returns the sandbox limits that were reached while the command ran, as far as the provider can
   * tell. When several commands run at once, any of them may have reached the limit. Empty while
   * the command runs.
   */
  default Set<LimitKind> limitsMet() {
    return Set.of();
  }

  /** Returns how long the command ran, or has been running. */
  Duration duration();

  /** Sends a signal to the process group of the command. Does nothing if the command has ended. */
  void signal(Signal signal);

  /**
   * Kills the whole process tree, including processes that left the session or process group. Does
   * nothing if no process is left.
   */
  void kill();

  /** Detaches from the command, which keeps running. */
  @Override
  void close();
}
