package dev.isola.snapshot.chunk;

/**
 * Where a chunk lies.
 *
 * @param length in the pack, compressed
 * @param size of its content
 */
record ChunkLocation(String pack, long offset, int length, int size) {
  /** Returns where the next one may begin. */
  long end() {
    return offset + length;
  }
}
