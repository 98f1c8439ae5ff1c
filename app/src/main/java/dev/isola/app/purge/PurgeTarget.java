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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The installations to purge, and those that are visible and stay.
 *
 * @param data the data folder, which may not exist
 * @param recorded the folders with an id: the data folder and those of image builds and of
 *     microvmctl in it; empty if the data folder was removed
 * @param instances the traces of the installations to purge
 * @param others the ids of the other installations that are visible
 */
record PurgeTarget(
    Path data,
    Map<Path, InstanceId> recorded,
    Map<String, InstanceTraces> instances,
    Set<String> others) {

  /**
   * Chooses the installations: that of the data folder, those whose processes use the data folder
   * although it was removed, and those that the operator names.
   */
  static PurgeTarget of(Path data, List<String> named, boolean all) {
    Map<Path, InstanceId> recorded = new LinkedHashMap<>();
    for (DataFolder installation : new DataFolder(data).installations()) {
      Path folder = installation.path();
      recorded(folder).ifPresent(id -> recorded.put(folder, id));
    }
    Map<String, InstanceTraces> visible = InstanceTraces.all(DataFolderTraces.of(real(data)));
    Map<String, InstanceTraces> chosen = new TreeMap<>();
    recorded
        .values()
        .forEach(
            id ->
                chosen.put(id.value(), visible.getOrDefault(id.value(), InstanceTraces.none(id))));
    visible.forEach(
        (id, traces) -> {
          if (traces.inDataFolder() || all) {
            chosen.put(id, traces);
          }
        });
    for (String id : named) {
      if (!SandboxId.isValid(id)) {
        throw new UsageException(
            "'" + id + "' is not the id of an installation",
            "run isola purge --dry-run to list the ids");
      }
      chosen.put(id, visible.getOrDefault(id, InstanceTraces.none(new InstanceId(id))));
    }
    Set<String> others = new TreeSet<>(visible.keySet());
    others.removeAll(chosen.keySet());
    return new PurgeTarget(data, recorded, chosen, others);
  }

  /** Reads the traces again. */
  PurgeTarget refresh() {
    Map<String, InstanceTraces> visible = InstanceTraces.all(DataFolderTraces.of(real(data)));
    Map<String, InstanceTraces> now = new TreeMap<>();
    instances.forEach(
        (id, before) ->
            now.put(id, visible.getOrDefault(id, InstanceTraces.none(before.instance()))));
    return new PurgeTarget(data, recorded, now, others);
  }

  /** Returns the launchers of the data folder, without those of this process. */
  List<HostProcess.Launcher> launchers() {
    long self = ProcessHandle.current().pid();
    List<HostProcess.Launcher> found = new ArrayList<>();
    for (HostProcess process : HostProcess.all()) {
      if (process instanceof HostProcess.Launcher launcher
          && launcher.owner() != self
          && (launcher.socket().startsWith(data) || launcher.socket().startsWith(real(data)))) {
        found.add(launcher);
      }
    }
    return found;
  }

  /** Returns the path without symbolic links, also of a folder that was removed. */
  static Path real(Path data) {
    try {
      Path parent = data.getParent();
      Path name = data.getFileName();
      return Files.exists(data)
          ? data.toRealPath()
          : parent == null || name == null ? data : parent.toRealPath().resolve(name);
    } catch (IOException gone) {
      return data;
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
