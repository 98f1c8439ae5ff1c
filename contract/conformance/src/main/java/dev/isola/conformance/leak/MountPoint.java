package dev.isola.conformance.leak;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A line of {@code /proc/self/mountinfo}. */
record MountPoint(String id, String path, String type, String source, String options) {
  private static final Path TABLE = Path.of("/proc/self/mountinfo");

  static List<MountPoint> all() {
    List<MountPoint> mounts = new ArrayList<>();
    for (String line : ProcFiles.lines(TABLE)) {
      int dash = line.indexOf(" - ");
      String[] left = dash < 0 ? new String[0] : line.substring(0, dash).split(" ");
      String[] right = dash < 0 ? new String[0] : line.substring(dash + 3).split(" ");
      if (left.length >= 5 && right.length >= 3) {
        mounts.add(new MountPoint(left[0], plain(left[4]), right[0], plain(right[1]), right[2]));
      }
    }
    return mounts;
  }

  /** Returns the mounts in scope, except network namespaces, which are reported separately. */
  static List<TrackedResource> find(ScanScope scope) {
    return all().stream()
        .filter(mount -> !mount.type.equals("nsfs") && mount.marked(scope))
        .map(MountPoint::toResource)
        .toList();
  }

  private boolean marked(ScanScope scope) {
    return scope.ownsPath(path)
        || scope.ownsPath(source)
        || scope.ownsName(source)
        || scope.ownsName(path);
  }

  private TrackedResource toResource() {
    return new TrackedResource(
        TrackedResource.Kind.MOUNT,
        id + " " + path,
        "mount of " + source + " (" + type + ") at " + path);
  }

  /** Decodes the octal escapes of the kernel for whitespace and backslashes. */
  private static String plain(String text) {
    return text.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\");
  }
}
