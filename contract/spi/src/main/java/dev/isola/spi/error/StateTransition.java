package dev.isola.spi.error;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import java.util.Locale;
import java.util.Set;

/** Rejects state transitions that {@link SandboxState#canTransitionTo} does not allow. */
public final class StateTransition {
  private StateTransition() {}

  /**
   * Returns {@code next} if the transition is allowed.
   *
   * @throws Conflict with {@code ILLEGAL_STATE} if it is not
   */
  public static SandboxState check(SandboxState before, SandboxState next, SandboxId id) {
    if (before.canTransitionTo(next)) {
      return next;
    }
    throw Fault.of(
            ErrorCode.ILLEGAL_STATE,
            "sandbox " + id + " is " + word(before) + " and cannot become " + word(next),
            before.successors().isEmpty()
                ? "create a new sandbox"
                : "from here it can only become " + words(before.successors()))
        .sandbox(id)
        .exception();
  }

  private static String words(Set<SandboxState> states) {
    return String.join(" or ", states.stream().map(StateTransition::word).toList());
  }

  private static String word(SandboxState state) {
    return state.name().toLowerCase(Locale.ROOT);
  }
}
