package dev.isola.snapshot.chunk;

/**
 * The location of a chunk.
 *
 * @param length the compressed length in the pack
 * @param size the uncompressed size
 */
record ChunkLocation(String pack, long offset, int length, int size) {
  /** Returns the offset after the chunk. */
  long end() {
    return offset + length;
  }
}
