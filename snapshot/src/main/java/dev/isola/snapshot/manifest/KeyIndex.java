package dev.isola.snapshot.manifest;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.snapshot.chunk.ChunkId;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * Offsets by key, in eight bytes each: 24 bits of a hash and 40 of the offset. A lookup can return
 * offsets of other keys; the caller compares. The hash is keyed, because a sandbox chooses the
 * keys.
 */
final class KeyIndex {
  /** The most memory of an index. */
  private static final long MAX_SLOTS = (16 << 20) / Long.BYTES;

  private static final int OFFSET_BITS = 40;
  private static final long OFFSET_MASK = (1L << OFFSET_BITS) - 1;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final long[] slots;
  private final byte[] secret = new byte[16];

  private KeyIndex(int size) {
    this.slots = new long[size];
    RANDOM.nextBytes(secret);
  }

  /** Returns an empty index for {@code count} keys, or empty if it would be too large. */
  static Optional<KeyIndex> of(long count) {
    long size = Long.highestOneBit(Math.max(count, 8) * 3 / 2) << 1;
    return size > MAX_SLOTS ? Optional.empty() : Optional.of(new KeyIndex((int) size));
  }

  void put(String key, long offset) {
    long hash = hash(key);
    int at = (int) hash & slots.length - 1;
    while (slots[at] != 0) {
      at = at + 1 & slots.length - 1;
    }
    slots[at] = hash & ~OFFSET_MASK | offset + 1;
  }

  Offsets find(String key) {
    return new Offsets(hash(key));
  }

  /** Iterates over the offsets that may belong to a key, in the order in which they were put. */
  final class Offsets {
    private final long hash;
    private int at;

    private Offsets(long hash) {
      this.hash = hash;
      this.at = (int) hash & slots.length - 1;
    }

    boolean hasNext() {
      while (slots[at] != 0 && (slots[at] ^ hash) >>> OFFSET_BITS != 0) {
        at = at + 1 & slots.length - 1;
      }
      return slots[at] != 0;
    }

    long next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      long offset = (slots[at] & OFFSET_MASK) - 1;
      at = at + 1 & slots.length - 1;
      return offset;
    }
  }

  private long hash(String key) {
    MessageDigest digest = ChunkId.sha256();
    digest.update(secret);
    return ByteBuffer.wrap(digest.digest(key.getBytes(ISO_8859_1))).getLong();
  }
}
