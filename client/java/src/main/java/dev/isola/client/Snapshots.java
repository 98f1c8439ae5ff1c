package dev.isola.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Snapshots of a server. {@link Sandbox#snapshot} takes one. */
public final class Snapshots {
  /** Timeout for removal and garbage collection, which wait for snapshots in progress. */
  private static final Duration TIMEOUT = Duration.ofMinutes(10);

  private static final ApiPath ENDPOINT = ApiPath.of("snapshots");
  private final Transport transport;
  private final Isola isola;

  Snapshots(Transport transport, Isola isola) {
    this.transport = transport;
    this.isola = isola;
  }

  /** Differences between two snapshots, as paths. */
  public record SnapshotDiff(List<String> added, List<String> changed, List<String> removed) {}

  /** What a garbage collection freed. */
  public record GarbageCollectionResult(long packs, long bytes) {}

  public List<SnapshotInfo> list() {
    return transport.get(ENDPOINT).list("snapshots").stream().map(SnapshotInfo::read).toList();
  }

  public SnapshotInfo get(String id) {
    return SnapshotInfo.read(transport.get(ENDPOINT.resolve(id)));
  }

  /**
   * Creates a sandbox with the files of a snapshot; the processes of a snapshot of memory continue.
   */
  public Sandbox restore(String id) {
    return restore(id, SandboxSpec.DEFAULT);
  }

  /**
   * Creates a sandbox with the files of a snapshot; the processes of a snapshot of memory continue.
   *
   * @param spec of the new sandbox; its image is replaced by the snapshot. With a snapshot of
   *     memory it may only set the id, name, environment, tags and timeouts
   */
  public Sandbox restore(String id, SandboxSpec spec) {
    return isola.create(spec.toBuilder().image(get(id).image()).build());
  }

  public SnapshotDiff diff(String from, String to) {
    JsonFields response = transport.get(ENDPOINT.resolve(from).resolve("diff").query("to", to));
    return new SnapshotDiff(
        response.strings("added"), response.strings("changed"), response.strings("removed"));
  }

  /** Removes a snapshot. {@link #collectGarbage} frees its space. */
  public void remove(String id) {
    transport.delete(ENDPOINT.resolve(id), TIMEOUT);
  }

  /** Frees data that no snapshot references. Requires a key with scope admin. */
  public GarbageCollectionResult collectGarbage() {
    JsonFields response = transport.post(ApiPath.of("gc", "snapshots"), Map.of(), TIMEOUT);
    return new GarbageCollectionResult(response.integer("packs"), response.integer("bytes"));
  }
}
