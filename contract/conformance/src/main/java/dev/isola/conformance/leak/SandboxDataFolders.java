package dev.isola.conformance.leak;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Sandbox folders: {@code sandboxes/*} in the data folder of a provider, or one level deeper in the
 * data folder of an installation, which has a folder for each provider.
 */
final class SandboxDataFolders {
  private static final String SANDBOXES = "sandboxes";

  private SandboxDataFolders() {}

  static List<TrackedResource> find(ScanScope scope) {
    List<TrackedResource> found = new ArrayList<>();
    for (Path data : scope.dataFolders()) {
      add(data.resolve(SANDBOXES), found);
      ProcFiles.folders(data).forEach(provider -> add(provider.resolve(SANDBOXES), found));
    }
    return found;
  }

  private static void add(Path sandboxes, List<TrackedResource> found) {
    for (String name : ProcFiles.names(sandboxes)) {
      String path = sandboxes.resolve(name).toString();
      found.add(new TrackedResource(TrackedResource.Kind.FOLDER, path, "folder " + path));
    }
  }
}
