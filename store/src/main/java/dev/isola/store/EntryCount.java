package dev.isola.store;

import dev.isola.spi.SandboxState;

/**
 * How many sandboxes of a provider are in a state.
 *
 * @param pooled whether they are in the warm pool, unclaimed
 */
public record EntryCount(String provider, SandboxState state, boolean pooled, long count) {}
