package dev.isola.conformance.census;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The folders of sandboxes: {@code sandboxes/*} in a provider's data folder, and one level deeper
 * in an installation's, which has one folder for each provider.
 */
final class SandboxFolders {
  private static final String SANDBOXES = "sandboxes";

  private SandboxFolders() {}

  static List<Thing> find(Scope scope) {
    List<Thing> found = new ArrayList<>();
    for (Path data : scope.dataFolders()) {
      add(data.resolve(SANDBOXES), found);
      Proc.folders(data).forEach(provider -> add(provider.resolve(SANDBOXES), found));
    }
    return found;
  }

  private static void add(Path sandboxes, List<Thing> found) {
    for (String name : Proc.names(sandboxes)) {
      String path = sandboxes.resolve(name).toString();
      found.add(new Thing(Thing.Kind.FOLDER, path, "folder " + path));
    }
  }
}
