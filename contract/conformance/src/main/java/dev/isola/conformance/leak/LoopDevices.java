package dev.isola.conformance.leak;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Loop devices whose backing file lies in a data folder, whether mounted or not. */
final class LoopDevices {
  private static final Path DEVICES = Path.of("/sys/block");

  private LoopDevices() {}

  static List<TrackedResource> find(ScanScope scope) {
    List<TrackedResource> found = new ArrayList<>();
    for (String name : ProcFiles.names(DEVICES)) {
      if (name.startsWith("loop")) {
        String file = ProcFiles.text(DEVICES.resolve(name).resolve("loop/backing_file")).strip();
        if (scope.ownsPath(file)) {
          found.add(
              new TrackedResource(
                  TrackedResource.Kind.LOOP_DEVICE,
                  name + " " + file,
                  "loop device " + name + " of " + file));
        }
      }
    }
    return found;
  }
}
