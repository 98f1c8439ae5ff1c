package dev.isola.app.purge;

import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.UsageException;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The installations to purge, and those that are visible and stay.
 *
 * @param data the data folder, which may not exist
 * @param recorded the folders with an id: the data folder and those of image builds and of
 *     microvmctl in it; empty if the data folder was removed
 * @param instances the traces of the installations to purge
 * @param others the other installations that are visible, by id
 */
record PurgeTarget(
    Path data,
    Map<Path, InstanceId> recorded,
    Map<String, InstanceTraces> instances,
    Map<String, InstanceTraces> others) {

  /**
   * Chooses the installations: that of the data folder and those in it, by the ids that the folders
   * record, and those that the operator names.
   */
  static PurgeTarget of(Path data, List<String> named, boolean all) {
    Map<Path, InstanceId> recorded = new LinkedHashMap<>();
    for (DataFolder installation : new DataFolder(data).installations()) {
      Path folder = installation.path();
      recorded(folder).ifPresent(id -> recorded.put(folder, id));
    }
    Map<String, InstanceTraces> visible = InstanceTraces.all();
    Map<String, InstanceTraces> chosen = new TreeMap<>();
    recorded
        .values()
        .forEach(
            id ->
                chosen.put(id.value(), visible.getOrDefault(id.value(), InstanceTraces.none(id))));
    if (all) {
      chosen.putAll(visible);
    }
    for (String id : named) {
      if (!SandboxId.isValid(id)) {
        throw new UsageException(
            "'" + id + "' is not the id of an installation",
            "run isola purge --dry-run to list the ids");
      }
      chosen.put(id, visible.getOrDefault(id, InstanceTraces.none(new InstanceId(id))));
    }
    Map<String, InstanceTraces> others = new TreeMap<>(visible);
    others.keySet().removeAll(chosen.keySet());
    return new PurgeTarget(data, recorded, chosen, others);
  }

  /** Reads the traces again. */
  PurgeTarget refresh() {
    Map<String, InstanceTraces> visible = InstanceTraces.all();
    Map<String, InstanceTraces> now = new TreeMap<>();
    instances.forEach(
        (id, before) ->
            now.put(id, visible.getOrDefault(id, InstanceTraces.none(before.instance()))));
    return new PurgeTarget(data, recorded, now, others);
  }

  /** Returns what is mounted in the data folder, and the loop devices with files in it. */
  DataFolderMounts mounts() {
    try {
      return new DataFolderMounts(data.toRealPath());
    } catch (IOException gone) {
      return new DataFolderMounts(data);
    }
  }

  private static Optional<InstanceId> recorded(Path data) {
    Path file = data.resolve("instance");
    try {
      String id = Files.readString(file).strip();
      if (SandboxId.isValid(id)) {
        return Optional.of(new InstanceId(id));
      }
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              file + " does not contain the id of an installation; nothing was removed",
              "name the data folder of an installation with --data")
          .exception();
    } catch (NoSuchFileException none) {
      return Optional.empty();
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PERMISSION_DENIED,
              file + " cannot be read: " + e.getMessage(),
              "run the command as the user that owns the data folder")
          .exception(e);
    }
  }
}
