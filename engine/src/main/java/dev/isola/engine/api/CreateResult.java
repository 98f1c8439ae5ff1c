package dev.isola.engine.api;

import dev.isola.spi.capability.Sandbox;

/**
 * A sandbox that was created or claimed from the warm pool. Its view names the provider and
 * isolation in use, whether it came from the warm pool, and the failed attempts at other providers.
 *
 * @param repeated whether an earlier request with the same idempotency key created it
 */
public record CreateResult(SandboxView view, Sandbox sandbox, boolean repeated) {}
