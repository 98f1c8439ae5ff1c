package dev.isola.conformance.census;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Loop devices whose file lies in a data folder: mounted in any namespace, or in none. */
final class LoopDevices {
  private static final Path DEVICES = Path.of("/sys/block");

  private LoopDevices() {}

  static List<Thing> find(Scope scope) {
    List<Thing> found = new ArrayList<>();
    for (String name : Proc.names(DEVICES)) {
      if (name.startsWith("loop")) {
        String file = Proc.text(DEVICES.resolve(name).resolve("loop/backing_file")).strip();
        if (scope.holds(file)) {
          found.add(
              new Thing(
                  Thing.Kind.LOOP_DEVICE,
                  name + " " + file,
                  "loop device " + name + " of " + file));
        }
      }
    }
    return found;
  }
}
