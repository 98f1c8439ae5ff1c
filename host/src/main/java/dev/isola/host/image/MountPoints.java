package dev.isola.host.image;

import dev.isola.host.image.NativeFiles.Stat;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Creates the mount points of a sandbox while the image is still writable. Each is a real folder
 * that is reached without symbolic links: an image must not redirect mounts.
 */
final class MountPoints {
  private static final List<String> FOLDERS =
      List.of("proc", "sys", "dev", "tmp", "run", "workspace", "home", "home/user", ".isola");
  private static final Map<String, Integer> MODES = Map.of("tmp", 01777);

  private MountPoints() {}

  static void create(RootfsTree tree, ImportWarnings warnings) throws IOException {
    for (String folder : FOLDERS) {
      Optional<Stat> existing = tree.stat(folder);
      if (existing.isPresent() && !existing.get().isFolder()) {
        warnings.add("links or files were replaced by folders that a sandbox needs", folder);
        tree.removeFile(folder);
        existing = Optional.empty();
      }
      if (existing.isEmpty()) {
        tree.makeFolder(folder, 0755);
        tree.chmodFolder(folder, MODES.getOrDefault(folder, 0755));
      }
    }
  }
}
