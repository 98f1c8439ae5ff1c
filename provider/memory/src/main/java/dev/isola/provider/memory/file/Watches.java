package dev.isola.provider.memory.file;

import dev.isola.provider.memory.fault.Faults;
import dev.isola.provider.memory.fault.PlantedFault;
import dev.isola.spi.file.FileChange;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Hands every change of the tree to the watches it concerns. Called under the tree's lock. */
final class Watches {
  private final List<MemoryWatch> open = new CopyOnWriteArrayList<>();
  private final Faults faults;

  Watches(Faults faults) {
    this.faults = faults;
  }

  MemoryWatch open(String path, boolean recursive) {
    MemoryWatch watch = new MemoryWatch(path, recursive, open::remove);
    open.add(watch);
    return watch;
  }

  void tell(FileChange.Kind kind, String path, boolean folder) {
    if (kind == FileChange.Kind.REMOVED && faults.has(PlantedFault.REMOVALS_UNSEEN)) {
      return;
    }
    open.forEach(watch -> watch.tell(new FileChange(kind, path, folder)));
  }

  void close() {
    open.forEach(MemoryWatch::close);
  }
}
