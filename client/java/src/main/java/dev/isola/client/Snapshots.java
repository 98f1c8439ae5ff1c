package dev.isola.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The snapshots of a server. They are taken by {@link Sandbox#snapshot}. */
public final class Snapshots {
  /** Removing and collecting wait for who takes one. */
  private static final Duration LONG = Duration.ofMinutes(10);

  private static final ApiPath ADDRESS = ApiPath.of("snapshots");
  private final Transport transport;

  Snapshots(Transport transport) {
    this.transport = transport;
  }

  /** What became of the files from one snapshot to another, by path. */
  public record SnapshotDiff(List<String> added, List<String> changed, List<String> removed) {}

  /** What came back from a collection. */
  public record GarbageCollectionResult(long packs, long bytes) {}

  public List<SnapshotInfo> list() {
    return transport.get(ADDRESS).list("snapshots").stream().map(SnapshotInfo::read).toList();
  }

  public SnapshotInfo get(String id) {
    return SnapshotInfo.read(transport.get(ADDRESS.resolve(id)));
  }

  public SnapshotDiff diff(String from, String to) {
    JsonFields answer = transport.get(ADDRESS.resolve(from).resolve("diff").query("to", to));
    return new SnapshotDiff(
        answer.strings("added"), answer.strings("changed"), answer.strings("removed"));
  }

  /** Removes one; its space comes back with {@link #collectGarbage}. */
  public void remove(String id) {
    transport.delete(ADDRESS.resolve(id), LONG);
  }

  /** Frees what no snapshot needs; for keys with scope admin. */
  public GarbageCollectionResult collectGarbage() {
    JsonFields answer = transport.post(ApiPath.of("gc", "snapshots"), Map.of(), LONG);
    return new GarbageCollectionResult(answer.integer("packs"), answer.integer("bytes"));
  }
}
