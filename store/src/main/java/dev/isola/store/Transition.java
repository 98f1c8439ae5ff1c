package dev.isola.store;

import dev.isola.spi.SandboxState;
import java.time.Instant;
import java.util.Optional;

/**
 * One change of state.
 *
 * @param revision the revision that the change produced
 * @param from the previous state; empty for the intent
 */
public record Transition(
    long revision,
    Optional<SandboxState> from,
    SandboxState to,
    Instant at,
    Optional<String> cause) {}
