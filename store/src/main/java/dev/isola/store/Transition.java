package dev.isola.store;

import dev.isola.spi.SandboxState;
import java.time.Instant;
import java.util.Optional;

/**
 * One change of state.
 *
 * @param revision the revision of the entry that made it
 * @param from empty for the intent
 */
public record Transition(
    long revision,
    Optional<SandboxState> from,
    SandboxState to,
    Instant at,
    Optional<String> cause) {}
