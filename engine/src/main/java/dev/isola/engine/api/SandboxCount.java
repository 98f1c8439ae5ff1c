package dev.isola.engine.api;

import dev.isola.spi.SandboxState;

/**
 * The number of sandboxes of a provider in a state.
 *
 * @param pooled whether they are in the warm pool, unclaimed
 */
public record SandboxCount(String provider, SandboxState state, boolean pooled, long count) {}
