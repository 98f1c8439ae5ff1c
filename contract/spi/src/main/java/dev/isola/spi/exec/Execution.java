package dev.isola.spi.exec;

import dev.isola.spi.LimitKind;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * A command that runs, or ran. The handle may be used from any thread; {@link #read()} and {@link
 * #await()} from one at a time.
 *
 * <p>Output has back-pressure: a command whose output nobody reads is held back once the bounded
 * buffers on the way are full. Nothing is dropped while somebody is attached.
 *
 * <p>The command does not depend on the handle: {@link #close()} only lets go, and the command goes
 * on. Where the provider declares {@link dev.isola.spi.capability.Attaching} it can be found again,
 * from another process too.
 */
public interface Execution extends AutoCloseable {

  ExecutionId id();

  /** Returns the process id as the sandbox sees it. */
  long pid();

  /**
   * Returns the command's standard input. Closing it is end of file for the command. Writes block
   * while the command does not read, and throw {@code IOException} once it has ended; what a
   * command that closed its input is sent is thrown away.
   */
  OutputStream stdin();

  /**
   * Waits for the next piece of output; empty once the command has ended and everything was read.
   *
   * @throws dev.isola.spi.error.OutcomeUnknown when the sandbox was lost
   * @throws dev.isola.spi.error.DeadlineExceeded with {@code CANCELLED} when the thread is
   *     interrupted
   */
  Optional<Output> read();

  /** Waits for the end, throwing away output that was not read. Returns at once when repeated. */
  Exit await();

  /** Like {@link #await()}, but gives up after {@code patience}; the command goes on. */
  Optional<Exit> await(Duration patience);

  /**
   * Returns the sandbox's limits that were met while it ran, as far as the provider can tell; not
   * by it alone where several commands run at once. Empty while it runs.
   */
  default Set<LimitKind> limitsMet() {
    return Set.of();
  }

  /** Returns how long it ran, or has been running. */
  Duration duration();

  /** Signals the command's process group. Does nothing when it has ended. */
  void signal(Signal signal);

  /**
   * Kills the whole process tree, whatever it did to get away. Does nothing when there is nothing
   * left.
   */
  void kill();

  /** Lets go of the handle; the command goes on. */
  @Override
  void close();
}
