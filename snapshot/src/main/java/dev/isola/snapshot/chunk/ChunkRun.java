package dev.isola.snapshot.chunk;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Chunks that lie side by side in a pack and are read together. The same only as itself. */
final class ChunkRun {
  /** How much is read at once, if chunks allow. */
  static final int LONGEST = 4 << 20;

  /** How far apart two chunks may lie to be read together. */
  private static final int GAP = 64 << 10;

  private final String pack;
  private final long offset;
  private final Map<ChunkId, ChunkLocation> chunks = new LinkedHashMap<>();
  private long end;

  private ChunkRun(ChunkLocation first) {
    this.pack = first.pack();
    this.offset = first.offset();
    this.end = first.offset();
  }

  /** Puts together what lies side by side. */
  static List<ChunkRun> of(Map<ChunkId, ChunkLocation> wanted) {
    List<Map.Entry<ChunkId, ChunkLocation>> sorted = new ArrayList<>(wanted.entrySet());
    sorted.sort(
        Map.Entry.comparingByValue(
            Comparator.comparing(ChunkLocation::pack).thenComparingLong(ChunkLocation::offset)));
    List<ChunkRun> stretches = new ArrayList<>();
    for (Map.Entry<ChunkId, ChunkLocation> one : sorted) {
      if (stretches.isEmpty() || !stretches.getLast().reaches(one.getValue())) {
        stretches.add(new ChunkRun(one.getValue()));
      }
      stretches.getLast().add(one.getKey(), one.getValue());
    }
    return stretches;
  }

  private boolean reaches(ChunkLocation place) {
    return place.pack().equals(pack)
        && place.offset() <= end + GAP
        && place.end() <= offset + LONGEST;
  }

  private void add(ChunkId id, ChunkLocation place) {
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

  Map<ChunkId, ChunkLocation> chunks() {
    return chunks;
  }

  /** Returns where the squeezed bytes of a chunk begin in what was read. */
  int begin(ChunkLocation place) {
    return Math.toIntExact(place.offset() - offset);
  }

  /**
   * Returns one of its chunks.
   *
   * @param bytes all of it
   * @throws DamagedException when that is not what was written
   */
  byte[] content(ChunkId id, byte[] bytes) throws DamagedException {
    ChunkLocation place = chunks.get(id);
    if (place == null) {
      throw new IllegalArgumentException("there is no chunk " + id + " here");
    }
    return ZstdDecompressor.decompress(bytes, begin(place), place.length(), place.size())
        .filter(content -> ChunkId.of(content, 0, content.length).equals(id))
        .orElseThrow(
            () ->
                new DamagedException(
                    pack, "its chunk at byte " + place.offset() + " is not what was written"));
  }
}
