package dev.isola.host.image;

import dev.isola.archive.Names;
import dev.isola.host.image.NativeFiles.Stat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Removes a folder with everything in it, whatever the names and rights in there. */
final class Removal {
  private final Tree tree;

  private Removal(Tree tree) {
    this.tree = tree;
  }

  static void of(Path folder) throws IOException {
    try (Tree tree = new Tree(folder)) {
      new Removal(tree).empty("");
    }
    Files.deleteIfExists(folder);
  }

  private void empty(String folder) throws IOException {
    for (String name : tree.list(folder)) {
      String path = Names.child(folder, name);
      Optional<Stat> there = tree.stat(path);
      try {
        if (there.isPresent() && there.get().isFolder()) {
          empty(path);
          tree.removeFolder(path);
        } else {
          tree.removeFile(path);
        }
      } catch (NativeException e) {
        if (e.errno() != NativeException.ENOENT) {
          throw e;
        }
      }
    }
  }
}
