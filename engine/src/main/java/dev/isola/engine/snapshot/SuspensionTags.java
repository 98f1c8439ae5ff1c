package dev.isola.engine.snapshot;

import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.error.NotFound;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** The tags of the snapshots that store suspended sandboxes. */
public final class SuspensionTags {
  /** The tag of such a snapshot; its value is the sandbox id. */
  public static final String SANDBOX = "isola.rest";

  /** The tag of a snapshot with processes; its value is the id of the one with only files. */
  public static final String FILES = "isola.rest.files";

  private SuspensionTags() {}

  /** Returns the id of the snapshot with only files that belongs to one with processes. */
  public static Optional<String> files(Snapshot snapshot) {
    return Optional.ofNullable(snapshot.tags().get(FILES));
  }

  /**
   * Returns the ids of the snapshots that a suspended sandbox has.
   *
   * @param snapshots returns a snapshot by its id
   */
  public static List<String> ids(String snapshot, Function<String, Snapshot> snapshots) {
    List<String> ids = new ArrayList<>(List.of(snapshot));
    try {
      files(snapshots.apply(snapshot)).ifPresent(ids::add);
    } catch (NotFound none) {
      // removed by a client
    }
    return ids;
  }
}
