package dev.isola.bench;

import java.util.OptionalLong;

/**
 * The number of bytes that one iteration moved.
 *
 * @param storedBytes the bytes added to the storage of the tool
 * @param readBytes the bytes read from the files; empty if unknown
 */
public record BytesMoved(long storedBytes, OptionalLong readBytes) {}
