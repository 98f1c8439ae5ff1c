package dev.isola.spi.error;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import java.util.Locale;
import java.util.Set;

/** Refuses steps of a sandbox's life that {@link SandboxState#canTransitionTo} does not allow. */
public final class StateTransition {
  private StateTransition() {}

  /**
   * Returns {@code next}, or refuses.
   *
   * @throws Conflict with {@code ILLEGAL_STATE} when the step is not allowed
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
