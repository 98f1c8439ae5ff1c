package dev.isola.engine.startup;

import dev.isola.spi.exec.Command;
import java.time.Duration;
import java.util.Optional;

/**
 * What runs in a new sandbox before it is ready: volumes are given to their owner, the start
 * command is started, and the ready command is repeated until it succeeds. The ledger does not keep
 * it, for it is never run again: a sandbox whose startup did not end is destroyed.
 *
 * @param start is started once, with the tag {@link StartupSequence#TAG}, and goes on when the
 *     sandbox is ready
 * @param ready is repeated until its exit code is 0; without one the sandbox is ready as soon as
 *     the start command was started
 * @param timeout of all of it
 * @param volumeOwner the user that gets the writable volumes that still belong to root
 */
public record Startup(
    Optional<Command> start,
    Optional<Command> ready,
    Duration timeout,
    Optional<String> volumeOwner) {
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(60);

  /** Nothing runs. */
  public static final Startup NONE =
      new Startup(Optional.empty(), Optional.empty(), DEFAULT_TIMEOUT, Optional.empty());

  public Startup {
    if (!timeout.isPositive()) {
      throw new IllegalArgumentException("the timeout of a startup is not positive: " + timeout);
    }
  }

  public Startup withStart(Command command) {
    return new Startup(Optional.of(command), ready, timeout, volumeOwner);
  }

  public Startup withReady(Command command) {
    return new Startup(start, Optional.of(command), timeout, volumeOwner);
  }

  public Startup withTimeout(Duration time) {
    return new Startup(start, ready, time, volumeOwner);
  }

  public Startup withVolumeOwner(String user) {
    return new Startup(start, ready, timeout, Optional.of(user));
  }

  /** Returns whether there is nothing to do. */
  public boolean isEmpty() {
    return !hasCommands() && volumeOwner.isEmpty();
  }

  /** Returns whether commands run, which may change the files of the sandbox. */
  public boolean hasCommands() {
    return start.isPresent() || ready.isPresent();
  }
}
