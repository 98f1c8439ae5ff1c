package dev.isola.spi;

import static dev.isola.spi.SandboxState.CREATING;
import static dev.isola.spi.SandboxState.DESTROYED;
import static dev.isola.spi.SandboxState.ERROR;
import static dev.isola.spi.SandboxState.PAUSED;
import static dev.isola.spi.SandboxState.RUNNING;
import static dev.isola.spi.SandboxState.STOPPED;
import static dev.isola.spi.SandboxState.TERMINATING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.StateTransition;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** P3: one state machine; illegal transitions are rejected. */
class SandboxStateTest {
  private static final SandboxId ID = new SandboxId("box1");

  private static final Map<SandboxState, Set<SandboxState>> ALLOWED =
      Map.of(
          CREATING, Set.of(RUNNING, ERROR, TERMINATING),
          RUNNING, Set.of(PAUSED, STOPPED, ERROR, TERMINATING),
          PAUSED, Set.of(RUNNING, ERROR, TERMINATING),
          STOPPED, Set.of(RUNNING, ERROR, TERMINATING),
          ERROR, Set.of(TERMINATING),
          TERMINATING, Set.of(DESTROYED, ERROR),
          DESTROYED, Set.of());

  static Stream<Arguments> pairs() {
    return Arrays.stream(SandboxState.values())
        .flatMap(from -> Arrays.stream(SandboxState.values()).map(to -> Arguments.of(from, to)));
  }

  @ParameterizedTest(name = "{0} to {1}")
  @MethodSource("pairs")
  void everyPairIsAllowedOrRejected(SandboxState from, SandboxState to) {
    boolean allowed = ALLOWED.getOrDefault(from, Set.of()).contains(to);

    assertThat(from.canTransitionTo(to)).isEqualTo(allowed);
    assertThat(from.successors().contains(to)).isEqualTo(allowed);
    if (allowed) {
      assertThat(StateTransition.check(from, to, ID)).isEqualTo(to);
    } else {
      assertThatExceptionOfType(Conflict.class)
          .isThrownBy(() -> StateTransition.check(from, to, ID))
          .satisfies(
              refusal -> {
                assertThat(refusal.code()).isEqualTo(ErrorCode.ILLEGAL_STATE);
                assertThat(refusal.sandbox()).contains(ID);
                assertThat(refusal)
                    .hasMessageContaining(from.name().toLowerCase(Locale.ROOT))
                    .hasMessageContaining(to.name().toLowerCase(Locale.ROOT));
              });
    }
  }

  @Test
  void errorNamesTheAllowedTransitions() {
    assertThatExceptionOfType(Conflict.class)
        .isThrownBy(() -> StateTransition.check(PAUSED, STOPPED, ID))
        .withMessage(
            "sandbox box1 is paused and cannot become stopped; "
                + "from here it can only become running or error or terminating");
    assertThatExceptionOfType(Conflict.class)
        .isThrownBy(() -> StateTransition.check(DESTROYED, RUNNING, ID))
        .withMessageEndingWith("create a new sandbox");
  }

  @Test
  void everyStateCanReachDestroyed() {
    for (SandboxState state : SandboxState.values()) {
      assertThat(state == DESTROYED || state == TERMINATING || state.canTransitionTo(TERMINATING))
          .as(state.name())
          .isTrue();
    }
  }
}
