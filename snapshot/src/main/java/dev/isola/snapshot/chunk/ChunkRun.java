package dev.isola.snapshot.chunk;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Chunks that are adjacent in a pack and read together. Uses identity equality. */
final class ChunkRun {
  /** The maximum number of bytes per read, unless a single chunk is longer. */
  static final int LONGEST = 4 << 20;

  /** The maximum gap between two chunks that are read together. */
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

  /** Groups adjacent chunks into runs. */
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

  /** Returns the position of a compressed chunk within the bytes of the run. */
  int begin(ChunkLocation place) {
    return Math.toIntExact(place.offset() - offset);
  }

  /**
   * Returns the content of a chunk of this run.
   *
   * @param bytes all bytes of the run
   * @throws DamagedException if the chunk is corrupt
   */
  byte[] content(ChunkId id, byte[] bytes) throws DamagedException {
    ChunkLocation place = chunks.get(id);
    if (place == null) {
      throw new IllegalArgumentException("no chunk " + id + " in this run");
    }
    return ZstdDecompressor.decompress(bytes, begin(place), place.length(), place.size())
        .filter(content -> ChunkId.of(content, 0, content.length).equals(id))
        .orElseThrow(
            () ->
                new DamagedException(pack, "the chunk at byte " + place.offset() + " is corrupt"));
  }
}
