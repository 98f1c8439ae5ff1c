package dev.isola.provider.docker;

import dev.isola.codec.json.Json;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The mounts of a container, in the format of the Engine API. */
final class Mounts {
  private static final long MEGABYTE = 1 << 20;

  private Mounts() {}

  /**
   * Returns a bind mount of a host folder or file. A read-only mount is not recursive, because
   * submounts would stay writable.
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
   * @param bytes the size limit; 0 for an empty folder that is not writable
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

  /** Returns the mounts of the workspace, if the spec has one, and of the volumes. */
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
