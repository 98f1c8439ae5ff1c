package dev.isola.engine.api;

import dev.isola.spi.capability.Sandbox;

/**
 * A sandbox that was ordered and is there. Its entry names the provider that was really used, its
 * isolation, whether it came from the warm pool, and the attempts made before.
 *
 * @param repeated whether it was made by an earlier order with the same key
 */
public record CreateResult(SandboxView view, Sandbox sandbox, boolean repeated) {}
