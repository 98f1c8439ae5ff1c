package dev.isola.snapshot.manifest;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.codec.digest.Sha256;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Offsets by key, in eight bytes each: 24 bits of a hash and 40 of the offset. The keys themselves
 * are read where hashes are equal. The hash is keyed, because a sandbox chooses the keys.
 */
final class KeyIndex {
  private static final long MAX_SLOTS = 1 << 27;
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
  static Optional<KeyIndex> of(long count, long maxBytes) {
    long size = Long.highestOneBit(Math.max(count, 8) * 3 / 2) << 1;
    return size > Math.min(MAX_SLOTS, maxBytes / Long.BYTES)
        ? Optional.empty()
        : Optional.of(new KeyIndex((int) size));
  }

  /** Reads the key at an offset. */
  @FunctionalInterface
  interface KeyReader {
    String keyAt(long offset) throws IOException;
  }

  /** Adds a key, or replaces its offset. */
  void put(String key, long offset, KeyReader keys) throws IOException {
    long hash = hash(key);
    slots[slot(key, hash, keys)] = (hash & ~OFFSET_MASK) | (offset + 1);
  }

  OptionalLong find(String key, KeyReader keys) throws IOException {
    long found = slots[slot(key, hash(key), keys)];
    return found == 0 ? OptionalLong.empty() : OptionalLong.of((found & OFFSET_MASK) - 1);
  }

  /** Returns the slot of a key, or the empty one in which it belongs. */
  private int slot(String key, long hash, KeyReader keys) throws IOException {
    int at = (int) hash & (slots.length - 1);
    while (slots[at] != 0
        && ((slots[at] ^ hash) >>> OFFSET_BITS != 0
            || !keys.keyAt((slots[at] & OFFSET_MASK) - 1).equals(key))) {
      at = (at + 1) & (slots.length - 1);
    }
    return at;
  }

  private long hash(String key) {
    MessageDigest digest = Sha256.newDigest();
    digest.update(secret);
    return ByteBuffer.wrap(digest.digest(key.getBytes(ISO_8859_1))).getLong();
  }
}
