package dev.isola.spi;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** The states of a sandbox and the only ways between them. */
public enum SandboxState {
  CREATING,
  RUNNING,
  /** Frozen with its processes in memory. */
  PAUSED,
  /** Its files are kept, its processes are gone. */
  STOPPED,
  /** It failed; only destroying it is left. */
  ERROR,
  TERMINATING,
  /** Nothing is left of it. */
  DESTROYED;

  /** Returns the states that may come next. */
  public Set<SandboxState> next() {
    return switch (this) {
      case CREATING -> EnumSet.of(RUNNING, ERROR, TERMINATING);
      case RUNNING -> EnumSet.of(PAUSED, STOPPED, ERROR, TERMINATING);
      case PAUSED, STOPPED -> EnumSet.of(RUNNING, ERROR, TERMINATING);
      case ERROR -> EnumSet.of(TERMINATING);
      case TERMINATING -> EnumSet.of(DESTROYED, ERROR);
      case DESTROYED -> EnumSet.noneOf(SandboxState.class);
    };
  }

  public boolean mayBecome(SandboxState next) {
    return next().contains(next);
  }

  /**
   * Returns {@code next}, or refuses.
   *
   * @throws dev.isola.spi.error.Conflict with {@code ILLEGAL_STATE} when the step is not allowed
   */
  public SandboxState to(SandboxState next, SandboxId id) {
    if (mayBecome(next)) {
      return next;
    }
    throw Fault.of(
            ErrorCode.ILLEGAL_STATE,
            "sandbox "
                + id
                + " is "
                + name().toLowerCase(Locale.ROOT)
                + " and cannot become "
                + next.name().toLowerCase(Locale.ROOT),
            next().isEmpty()
                ? "create a new sandbox"
                : "from here it can only become " + names(next()))
        .sandbox(id)
        .exception();
  }

  private static String names(Set<SandboxState> states) {
    return String.join(
        " or ", states.stream().map(s -> s.name().toLowerCase(Locale.ROOT)).toList());
  }
}
