package dev.isola.engine.api;

import java.time.Instant;

/**
 * What the engine tells of one volume.
 *
 * @param name by which sandboxes mount it
 * @param provider that has its files; empty text while that is not known
 * @param state {@code creating}, {@code available} or {@code removing}
 */
public record VolumeView(
    String id, String name, String provider, String state, Instant createdAt) {}
