package dev.isola.snapshot.chunk;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Chunks that lie side by side in a pack and are read together. The same only as itself. */
final class Stretch {
  /** How much is read at once, if chunks allow. */
  static final int LONGEST = 4 << 20;

  /** How far apart two chunks may lie to be read together. */
  private static final int GAP = 64 << 10;

  private final String pack;
  private final long offset;
  private final Map<ChunkId, Place> chunks = new LinkedHashMap<>();
  private long end;

  private Stretch(Place first) {
    this.pack = first.pack();
    this.offset = first.offset();
    this.end = first.offset();
  }

  /** Puts together what lies side by side. */
  static List<Stretch> of(Map<ChunkId, Place> wanted) {
    List<Map.Entry<ChunkId, Place>> sorted = new ArrayList<>(wanted.entrySet());
    sorted.sort(
        Map.Entry.comparingByValue(
            Comparator.comparing(Place::pack).thenComparingLong(Place::offset)));
    List<Stretch> stretches = new ArrayList<>();
    for (Map.Entry<ChunkId, Place> one : sorted) {
      if (stretches.isEmpty() || !stretches.getLast().reaches(one.getValue())) {
        stretches.add(new Stretch(one.getValue()));
      }
      stretches.getLast().add(one.getKey(), one.getValue());
    }
    return stretches;
  }

  private boolean reaches(Place place) {
    return place.pack().equals(pack)
        && place.offset() <= end + GAP
        && place.end() <= offset + LONGEST;
  }

  private void add(ChunkId id, Place place) {
    chunks.put(id, place);
    end = Math.max(end, place.end());
  }

  String pack() {
    return pack;
  }

  long offset() {
    return offset;
  }

  int length() {
    return Math.toIntExact(end - offset);
  }

  Map<ChunkId, Place> chunks() {
    return chunks;
  }

  /** Returns where the squeezed bytes of a chunk begin in what was read. */
  int begin(Place place) {
    return Math.toIntExact(place.offset() - offset);
  }

  /**
   * Returns one of its chunks.
   *
   * @param bytes all of it
   * @throws DamagedException when that is not what was written
   */
  byte[] content(ChunkId id, byte[] bytes) throws DamagedException {
    Place place = chunks.get(id);
    if (place == null) {
      throw new IllegalArgumentException("there is no chunk " + id + " here");
    }
    return Expander.expand(bytes, begin(place), place.length(), place.size())
        .filter(content -> ChunkId.of(content, 0, content.length).equals(id))
        .orElseThrow(
            () ->
                new DamagedException(
                    pack, "its chunk at byte " + place.offset() + " is not what was written"));
  }
}
