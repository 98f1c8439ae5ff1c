package dev.isola.snapshot.chunk;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Chunks that are adjacent in a pack and read together. Uses identity equality. */
final class ChunkRun {
  /** The maximum number of bytes per read, unless a single chunk is longer. */
  static final int MAX_BYTES = 4 << 20;

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
    List<ChunkRun> runs = new ArrayList<>();
    for (Map.Entry<ChunkId, ChunkLocation> one : sorted) {
      if (runs.isEmpty() || !runs.getLast().reaches(one.getValue())) {
        runs.add(new ChunkRun(one.getValue()));
      }
      runs.getLast().add(one.getKey(), one.getValue());
    }
    return runs;
  }

  private boolean reaches(ChunkLocation location) {
    return location.pack().equals(pack)
        && location.offset() <= end + GAP
        && location.end() <= offset + MAX_BYTES;
  }

  private void add(ChunkId id, ChunkLocation location) {
    chunks.put(id, location);
    end = Math.max(end, location.end());
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
  int begin(ChunkLocation location) {
    return Math.toIntExact(location.offset() - offset);
  }

  /**
   * Returns the content of a chunk of this run.
   *
   * @param bytes all bytes of the run
   * @throws DamagedException if the chunk is corrupt
   */
  byte[] content(ChunkId id, byte[] bytes) throws DamagedException {
    ChunkLocation location = chunks.get(id);
    if (location == null) {
      throw new IllegalArgumentException("no chunk " + id + " in this run");
    }
    return ZstdDecompressor.decompress(bytes, begin(location), location.length(), location.size())
        .filter(content -> ChunkId.of(content, 0, content.length).equals(id))
        .orElseThrow(
            () ->
                new DamagedException(
                    pack, "the chunk at byte " + location.offset() + " is corrupt"));
  }
}
