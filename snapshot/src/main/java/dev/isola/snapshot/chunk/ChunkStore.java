package dev.isola.snapshot.chunk;

import dev.isola.snapshot.blob.Blobs;
import dev.isola.snapshot.step.Steps;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * All chunks of a store. What is read is checked against its name, so nothing that was damaged goes
 * out. For several threads; {@link #sweep} must be alone.
 */
public final class ChunkStore implements AutoCloseable {
  private static final int MOST_THREADS = 8;

  /** How much is read at once of what lies side by side. */
  private static final int RANGE = 4 << 20;

  /** How far apart two chunks may lie to be read together. */
  private static final int GAP = 64 << 10;

  private static final int READING = 32 << 20;

  private final Blobs blobs;
  private final Path staging;
  private final Steps steps;
  private final ThreadPoolExecutor threads = threads();
  private final Map<ChunkId, Place> places = new ConcurrentHashMap<>();
  private final Map<String, String> damaged = new ConcurrentHashMap<>();

  private ChunkStore(Blobs blobs, Path staging, Steps steps) {
    this.blobs = blobs;
    this.staging = staging;
    this.steps = steps;
  }

  private static ThreadPoolExecutor threads() {
    int count = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, MOST_THREADS);
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            count,
            count,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("snapshot-", 0).factory());
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /**
   * Reads which chunks there are. A damaged pack keeps nobody from the others.
   *
   * @param staging a folder of this machine for what is not finished
   */
  public static ChunkStore open(Blobs blobs, Path staging, Steps steps) throws IOException {
    ChunkStore store = new ChunkStore(blobs, staging, steps);
    try {
      Flight flight = new Flight(store.threads, READING);
      for (String name : blobs.list(Pack.FOLDER)) {
        flight.start(GAP, () -> store.load(name));
      }
      flight.land();
      return store;
    } catch (IOException | RuntimeException e) {
      store.close();
      throw e;
    }
  }

  private void load(String name) throws IOException {
    try {
      places.putAll(Pack.rows(blobs, name));
    } catch (DamagedException e) {
      damaged.put(name, String.valueOf(e.getMessage()));
    }
  }

  /** Returns the packs that cannot be used, each with what is wrong with it. */
  public Map<String, String> damaged() {
    return new TreeMap<>(damaged);
  }

  public boolean contains(ChunkId id) {
    return places.containsKey(id);
  }

  /** Begins to add chunks. */
  public ChunkWriter writer() {
    return new ChunkWriter(this, blobs, staging, steps, threads);
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
    Place place = place(id);
    byte[] squeezed = read(place.pack(), place.offset(), place.length());
    return content(id, place, squeezed, 0);
  }

  private Place place(ChunkId id) throws DamagedException {
    Place place = places.get(id);
    if (place == null) {
      String hint = damaged.isEmpty() ? "" : " that can be read; " + damaged().values();
      throw new DamagedException("chunk " + id, "it is in no pack" + hint);
    }
    return place;
  }

  private static byte[] content(ChunkId id, Place place, byte[] from, int offset)
      throws DamagedException {
    return Expander.expand(from, offset, place.length(), place.size())
        .filter(content -> ChunkId.of(content, 0, content.length).equals(id))
        .orElseThrow(
            () ->
                new DamagedException(
                    place.pack(),
                    "its chunk at byte " + place.offset() + " is not what was written"));
  }

  private byte[] read(String pack, long offset, int length) throws IOException {
    try {
      return blobs.read(pack, offset, length);
    } catch (NoSuchFileException e) {
      throw new DamagedException(pack, "it is gone");
    } catch (EOFException e) {
      throw new DamagedException(pack, "it was cut off");
    }
  }

  /**
   * Returns how many bytes of content a chunk has.
   *
   * @throws IllegalArgumentException when there is no such chunk
   */
  public int size(ChunkId id) {
    Place place = places.get(id);
    if (place == null) {
      throw new IllegalArgumentException("there is no chunk " + id);
    }
    return place.size();
  }

  private record Wanted(ChunkId id, Place place) {}

  /** Is given a chunk that was checked, as it lies in its pack. */
  @FunctionalInterface
  private interface Checked {
    void take(ChunkId id, Place place, byte[] squeezed, int offset) throws IOException;
  }

  /**
   * Reads chunks and throws them away.
   *
   * @throws DamagedException when one is not there, or not what was written
   */
  public void check(Collection<ChunkId> ids) throws IOException {
    List<Wanted> wanted = new ArrayList<>(ids.size());
    for (ChunkId id : ids) {
      wanted.add(new Wanted(id, place(id)));
    }
    Flight flight = new Flight(threads, READING);
    try {
      for (List<Wanted> range : ranges(wanted)) {
        flight.start(RANGE, () -> check(range, (_, _, _, _) -> {}));
      }
      flight.land();
    } finally {
      flight.abandon();
    }
  }

  /** Puts together what lies side by side. */
  private static List<List<Wanted>> ranges(List<Wanted> wanted) {
    wanted.sort(
        Comparator.comparing((Wanted one) -> one.place().pack())
            .thenComparingLong(one -> one.place().offset()));
    List<List<Wanted>> ranges = new ArrayList<>();
    List<Wanted> open = new ArrayList<>();
    for (Wanted one : wanted) {
      if (!open.isEmpty()
          && (!one.place().pack().equals(open.getFirst().place().pack())
              || one.place().offset() > open.getLast().place().end() + GAP
              || one.place().end() > open.getFirst().place().offset() + RANGE)) {
        ranges.add(open);
        open = new ArrayList<>();
      }
      open.add(one);
    }
    if (!open.isEmpty()) {
      ranges.add(open);
    }
    return ranges;
  }

  private void check(List<Wanted> range, Checked checked) throws IOException {
    Place first = range.getFirst().place();
    long length = range.getLast().place().end() - first.offset();
    byte[] bytes = read(first.pack(), first.offset(), Math.toIntExact(length));
    for (Wanted one : range) {
      int offset = (int) (one.place().offset() - first.offset());
      content(one.id(), one.place(), bytes, offset);
      checked.take(one.id(), one.place(), bytes, offset);
    }
  }

  /** What a sweep gave back. */
  public record Swept(int packs, long bytes) {}

  /**
   * Removes what nobody needs. A pack of which less than half is needed is written anew without the
   * rest, before it goes. Whatever ends this in the middle leaves every needed chunk where it was,
   * or in two places.
   */
  public Swept sweep(Set<ChunkId> needed) throws IOException {
    return new Sweep(this, blobs, steps, needed).run();
  }

  /** Tells whether nothing is known of a pack but that it is damaged. */
  boolean isDamaged(String pack) {
    return damaged.containsKey(pack);
  }

  /** Tells whether a chunk is read from that pack. */
  boolean readsFrom(String pack, ChunkId id) {
    Place place = places.get(id);
    return place != null && place.pack().equals(pack);
  }

  void forget(String pack, Collection<ChunkId> ids) {
    for (ChunkId id : ids) {
      places.computeIfPresent(id, (_, at) -> at.pack().equals(pack) ? null : at);
    }
  }

  /** Writes chunks of a pack into a new one and returns how large that is. */
  long rewrite(Map<ChunkId, Place> kept) throws IOException {
    List<Wanted> wanted = new ArrayList<>();
    kept.forEach((id, place) -> wanted.add(new Wanted(id, place)));
    try (PackWriter pack = new PackWriter(staging, steps)) {
      for (List<Wanted> range : ranges(wanted)) {
        // What is damaged is not carried on as if it were good.
        check(
            range,
            (id, place, squeezed, offset) ->
                pack.add(id, squeezed, offset, place.length(), place.size()));
      }
      learn(pack.finish(blobs));
      return pack.size();
    }
  }

  /** Reads everything and returns what is damaged, by name. */
  public Map<String, String> verify() throws IOException {
    Map<String, String> found = new ConcurrentHashMap<>();
    Flight flight = new Flight(threads, READING);
    for (String name : blobs.list(Pack.FOLDER)) {
      flight.start(
          RANGE,
          () -> {
            if (!Pack.isWhole(blobs, name)) {
              found.put(name, name + " is damaged: its bytes are others");
            }
          });
    }
    flight.land();
    return new TreeMap<>(found);
  }

  /** Ends the threads once they have done what was begun. */
  @Override
  public void close() {
    threads.shutdown();
  }
}
