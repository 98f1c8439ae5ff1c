package dev.isola.provider.docker;

import dev.isola.codec.json.Json;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What is mounted into a container, in the engine's words. */
final class Mounts {
  private static final long MEGABYTE = 1 << 20;

  private Mounts() {}

  /**
   * A folder or file of the host's. What is mounted beneath it on the host is not taken along where
   * it is read only: it would be writable.
   */
  static Map<String, Object> bind(String source, String target, boolean readOnly) {
    return Json.object(
        "Type",
        "bind",
        "Source",
        source,
        "Target",
        target,
        "ReadOnly",
        readOnly,
        "BindOptions",
        Map.of("NonRecursive", readOnly, "Propagation", "rprivate"));
  }

  /**
   * @param bytes at most; nothing for an empty folder that nobody can write to
   */
  static Map<String, Object> tmpfs(String target, long bytes) {
    return Json.object(
        "Type",
        "tmpfs",
        "Target",
        target,
        "ReadOnly",
        bytes == 0,
        "TmpfsOptions",
        Map.of("SizeBytes", Math.max(bytes, 4096), "Mode", 0755));
  }

  /** Returns the workspace, where it is the caller's, and the volumes. */
  static List<Map<String, Object>> of(SandboxSpec spec, String volumePrefix) {
    List<Map<String, Object>> mounts = new ArrayList<>();
    spec.workspacePath()
        .ifPresent(folder -> mounts.add(bind(folder.toString(), spec.workspaceMount(), false)));
    for (VolumeMount volume : spec.volumes()) {
      mounts.add(
          switch (volume.type()) {
            case BIND -> bind(volume.source(), volume.destination(), volume.readOnly());
            case VOLUME ->
                Json.object(
                    "Type",
                    "volume",
                    "Source",
                    volumePrefix + volume.source(),
                    "Target",
                    volume.destination(),
                    "ReadOnly",
                    volume.readOnly());
            case TMPFS ->
                tmpfs(
                    volume.destination(),
                    volume.readOnly() ? 0 : spec.limits().memoryMb() * MEGABYTE);
          });
    }
    return mounts;
  }
}
