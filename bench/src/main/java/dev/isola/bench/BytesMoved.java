package dev.isola.bench;

import java.util.OptionalLong;

/**
 * What one iteration moved.
 *
 * @param storedBytes that it added to where it keeps things
 * @param readBytes of the files; empty where it does not tell
 */
public record BytesMoved(long storedBytes, OptionalLong readBytes) {}
