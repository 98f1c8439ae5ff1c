package dev.isola.store;

import dev.isola.spi.SandboxState;

/**
 * The number of sandboxes of a provider in a state.
 *
 * @param pooled whether the sandboxes are in the warm pool and unclaimed
 */
public record EntryCount(String provider, SandboxState state, boolean pooled, long count) {}
