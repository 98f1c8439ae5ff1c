package dev.isola.engine.api;

import dev.isola.spi.exec.Command;
import java.time.Duration;
import java.util.Optional;

/**
 * The startup of a new sandbox, which runs before it is ready: change the owner of volumes, start
 * the start command, and repeat the ready command until it succeeds. The ledger does not store it,
 * because it never runs again: a sandbox whose startup did not finish is destroyed.
 *
 * @param start started once with the tag {@code start}; keeps running when the sandbox is ready
 * @param ready repeated until its exit code is 0; without it the sandbox is ready as soon as the
 *     start command was started
 * @param timeout the timeout of the whole startup
 * @param volumeOwner the user that becomes the owner of writable volumes that belong to root
 */
public record Startup(
    Optional<Command> start,
    Optional<Command> ready,
    Duration timeout,
    Optional<String> volumeOwner) {
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(60);

  /** An empty startup. */
  public static final Startup NONE =
      new Startup(Optional.empty(), Optional.empty(), DEFAULT_TIMEOUT, Optional.empty());

  /** Runs the last argument with bash if the image has it, otherwise with sh. */
  public static final String SHELL =
      "if [ -x /bin/bash ]; then exec /bin/bash -l -c \"$1\"; else exec /bin/sh -l -c \"$1\"; fi";

  public Startup {
    if (!timeout.isPositive()) {
      throw new IllegalArgumentException("the timeout of a startup is not positive: " + timeout);
    }
  }

  /** Returns a command in a login shell, like that of build steps: bash, or sh without it. */
  public static Command shell(String text) {
    return Command.argv("/bin/sh", "-c", SHELL, "startup", text);
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
