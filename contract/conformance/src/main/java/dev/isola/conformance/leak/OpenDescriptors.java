package dev.isola.conformance.leak;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The open descriptors of this JVM.
 *
 * @param inside the descriptors that point into the data folder
 * @param counts the number of other descriptors by kind, without those that the JVM opens for
 *     itself
 */
record OpenDescriptors(List<TrackedResource> inside, Map<String, Integer> counts) {
  static final String SOCKETS = "sockets";
  static final String PIPES = "pipes";
  static final String FILES = "files";
  static final String OTHERS = "other descriptors";

  private static final Path SELF = Path.of("/proc/self/fd");

  static OpenDescriptors find(ScanScope scope) {
    List<TrackedResource> inside = new ArrayList<>();
    Map<String, Integer> counts = new TreeMap<>();
    for (String number : ProcFiles.names(SELF)) {
      String target = ProcFiles.link(SELF.resolve(number));
      if (target.startsWith("/") && !scope.dataFolders().isEmpty() && scope.ownsPath(target)) {
        inside.add(
            new TrackedResource(
                TrackedResource.Kind.DESCRIPTOR,
                number + " " + target,
                "descriptor " + number + " of this JVM: " + target));
      } else if (!target.isEmpty() && !ofTheJvm(target)) {
        counts.merge(kind(target), 1, Integer::sum);
      }
    }
    return new OpenDescriptors(List.copyOf(inside), Map.copyOf(counts));
  }

  private static String kind(String target) {
    if (target.startsWith("socket:")) {
      return SOCKETS;
    }
    if (target.startsWith("pipe:")) {
      return PIPES;
    }
    return target.startsWith("/") ? FILES : OTHERS;
  }

  /** Code that the JVM loads lazily, random devices, and the folder that this scan reads. */
  private static boolean ofTheJvm(String target) {
    String name = target.toLowerCase(Locale.ROOT);
    return name.endsWith(".jar")
        || name.endsWith(".class")
        || name.endsWith(".so")
        || name.endsWith(".aot")
        || name.endsWith("/lib/modules")
        || name.startsWith("/dev/")
        || name.startsWith("/proc/");
  }
}
