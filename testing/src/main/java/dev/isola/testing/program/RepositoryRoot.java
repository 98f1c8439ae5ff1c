package dev.isola.testing.program;

import java.nio.file.Files;
import java.nio.file.Path;

/** The folder of this repository, above the module whose tests run. */
public final class RepositoryRoot {
  private static final Path ROOT = find(Path.of("").toAbsolutePath());

  private RepositoryRoot() {}

  /** Returns a path in the repository. */
  public static Path resolve(String path) {
    return ROOT.resolve(path);
  }

  private static Path find(Path folder) {
    for (Path next = folder; next != null; next = next.getParent()) {
      if (Files.exists(next.resolve("SPECIFICATION.md"))) {
        return next;
      }
    }
    throw new IllegalStateException(folder + " is not in the repository");
  }
}
