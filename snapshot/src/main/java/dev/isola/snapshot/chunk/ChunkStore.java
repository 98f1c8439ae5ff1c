package dev.isola.snapshot.chunk;

import dev.isola.snapshot.blob.Blobs;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * All chunks of a store. What is read is checked against its name, so nothing that was damaged goes
 * out. For several threads; {@link #sweep} must be alone.
 */
public final class ChunkStore {
  private final Blobs blobs;
  private final Path staging;
  private final Map<ChunkId, Place> places = new ConcurrentHashMap<>();
  private final Map<String, String> damaged = new ConcurrentHashMap<>();

  private ChunkStore(Blobs blobs, Path staging) {
    this.blobs = blobs;
    this.staging = staging;
  }

  /**
   * Reads which chunks there are. A damaged pack keeps nobody from the others.
   *
   * @param staging a folder of this machine for what is not finished
   */
  public static ChunkStore open(Blobs blobs, Path staging) throws IOException {
    ChunkStore store = new ChunkStore(blobs, staging);
    for (String name : blobs.list(Pack.FOLDER)) {
      store.load(name);
    }
    return store;
  }

  private void load(String name) throws IOException {
    try {
      places.putAll(Pack.rows(blobs, name));
    } catch (DamagedException e) {
      damaged.put(name, String.valueOf(e.getMessage()));
    }
  }

  /** Returns the packs whose rows cannot be read, each with what is wrong with it. */
  public Map<String, String> damaged() {
    return new TreeMap<>(damaged);
  }

  public boolean contains(ChunkId id) {
    return places.containsKey(id);
  }

  /** Begins to add chunks. */
  public ChunkWriter writer() {
    return new ChunkWriter(this, blobs, staging);
  }

  void learn(Map<ChunkId, Place> more) {
    places.putAll(more);
  }

  /**
   * Returns a chunk.
   *
   * @throws DamagedException when it is not there, or not what was written
   */
  public byte[] read(ChunkId id) throws IOException {
    Place place = places.get(id);
    if (place == null) {
      throw new DamagedException("chunk " + id, "it is in no pack" + hint());
    }
    return Squeezing.restore(compressed(place), place.size())
        .filter(content -> ChunkId.of(content, 0, content.length).equals(id))
        .orElseThrow(
            () ->
                new DamagedException(
                    place.pack(),
                    "its chunk at byte " + place.offset() + " is not what was written"));
  }

  private String hint() {
    return damaged.isEmpty() ? "" : " that can be read; " + damaged().values();
  }

  private byte[] compressed(Place place) throws IOException {
    try {
      return blobs.read(place.pack(), place.offset(), place.length());
    } catch (NoSuchFileException e) {
      throw new DamagedException(place.pack(), "it is gone");
    }
  }

  /** Returns how many bytes a chunk takes in the store. */
  public int stored(ChunkId id) {
    Place place = places.get(id);
    return place == null ? 0 : place.length();
  }

  /** What a sweep gave back. */
  public record Swept(int packs, long bytes) {}

  /**
   * Removes what nobody needs. A pack of which less than half is needed is written anew without the
   * rest, before it goes. Whatever ends this in the middle leaves every needed chunk where it was,
   * or in two places.
   */
  public Swept sweep(Set<ChunkId> needed) throws IOException {
    int packs = 0;
    long bytes = 0;
    for (String name : blobs.list(Pack.FOLDER)) {
      if (damaged.containsKey(name)) {
        continue; // What is in it may be wanted by who can mend it.
      }
      Map<ChunkId, Place> rows = Pack.rows(blobs, name);
      long size = blobs.size(name);
      long used = 0;
      Map<ChunkId, Place> kept = new HashMap<>();
      for (Map.Entry<ChunkId, Place> row : rows.entrySet()) {
        Place current = places.get(row.getKey());
        if (needed.contains(row.getKey()) && current != null && current.pack().equals(name)) {
          kept.put(row.getKey(), row.getValue());
          used += row.getValue().length();
        }
      }
      if (used * 2 >= size) {
        continue;
      }
      long written = kept.isEmpty() ? 0 : rewrite(kept);
      rows.keySet().forEach(id -> places.computeIfPresent(id, (_, at) -> forget(at, name)));
      blobs.remove(name);
      packs++;
      bytes += size - written;
    }
    return new Swept(packs, bytes);
  }

  private static @Nullable Place forget(Place at, String pack) {
    return at.pack().equals(pack) ? null : at;
  }

  private long rewrite(Map<ChunkId, Place> kept) throws IOException {
    try (PackWriter pack = new PackWriter(staging)) {
      for (Map.Entry<ChunkId, Place> row : kept.entrySet()) {
        read(row.getKey()); // what is damaged is not carried on as if it were good
        Place place = row.getValue();
        byte[] compressed = compressed(place);
        pack.addCompressed(row.getKey(), compressed, compressed.length, place.size());
      }
      long size = pack.size();
      learn(pack.finish(blobs));
      return size;
    }
  }

  /** Reads everything and returns what is damaged, by name. */
  public Map<String, String> verify() throws IOException {
    Map<String, String> found = new TreeMap<>();
    List<String> names = blobs.list(Pack.FOLDER);
    for (String name : names) {
      String problem = problem(name);
      if (!problem.isEmpty()) {
        found.put(name, problem);
      }
    }
    return found;
  }

  /** A pack is named by all of its bytes. */
  private String problem(String name) throws IOException {
    MessageDigest digest = ChunkId.sha256();
    long size = blobs.size(name);
    for (long at = 0; at < size; ) {
      int length = (int) Math.min(1 << 20, size - at);
      digest.update(blobs.read(name, at, length));
      at += length;
    }
    String is = HexFormat.of().formatHex(digest.digest());
    return name.equals(Pack.FOLDER + "/" + is) ? "" : name + " is damaged: its bytes are others";
  }
}
