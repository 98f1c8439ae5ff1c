package dev.isola.engine.api;

import java.time.Instant;

/**
 * The state of one volume.
 *
 * @param name the name that sandboxes mount it by
 * @param provider the provider that stores its files; empty if not yet known
 * @param state {@code creating}, {@code available} or {@code removing}
 */
public record VolumeView(
    String id, String name, String provider, String state, Instant createdAt) {}
