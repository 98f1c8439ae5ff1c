package dev.isola.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The snapshots of a server. They are taken by {@link Sandbox#snapshot}. */
public final class Snapshots {
  /** Removing and collecting wait for who takes one. */
  private static final Duration LONG = Duration.ofMinutes(10);

  private static final Address ADDRESS = Address.of("snapshots");
  private final Transport transport;

  Snapshots(Transport transport) {
    this.transport = transport;
  }

  /** What became of the files from one snapshot to another, by path. */
  public record Difference(List<String> added, List<String> changed, List<String> removed) {}

  /** What came back from a collection. */
  public record Collected(long packs, long bytes) {}

  public List<SnapshotInfo> list() {
    return transport.get(ADDRESS).list("snapshots").stream().map(SnapshotInfo::read).toList();
  }

  public SnapshotInfo get(String id) {
    return SnapshotInfo.read(transport.get(ADDRESS.slash(id)));
  }

  public Difference diff(String from, String to) {
    Fields answer = transport.get(ADDRESS.slash(from).slash("diff").with("to", to));
    return new Difference(answer.words("added"), answer.words("changed"), answer.words("removed"));
  }

  /** Removes one; its space comes back with {@link #collect}. */
  public void remove(String id) {
    transport.delete(ADDRESS.slash(id), LONG);
  }

  /** Frees what no snapshot needs; for keys with scope admin. */
  public Collected collect() {
    Fields answer = transport.post(Address.of("gc", "snapshots"), Map.of(), LONG);
    return new Collected(answer.whole("packs"), answer.whole("bytes"));
  }
}
