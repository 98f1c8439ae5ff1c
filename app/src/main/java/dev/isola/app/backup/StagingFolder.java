package dev.isola.app.backup;

import dev.isola.link.local.TreeRemoval;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A private folder in the data folder for the files of a backup, removed at the end or when the
 * process is interrupted.
 */
final class StagingFolder implements AutoCloseable {
  /** A restored volume that could not be moved is removed with the folder. */
  private static final Duration TIMEOUT = Duration.ofMinutes(30);

  private final Path path;
  private final Thread hook;

  private StagingFolder(Path path) {
    this.path = path;
    this.hook = new Thread(this::removeQuietly, "isola-staging");
  }

  /**
   * Creates a folder that only its owner can read.
   *
   * @param prefix begins with a dot, so that the name is never one of a provider
   */
  static StagingFolder create(Path data, String prefix) throws IOException {
    StagingFolder folder = new StagingFolder(Files.createTempDirectory(data, prefix));
    Runtime.getRuntime().addShutdownHook(folder.hook);
    return folder;
  }

  Path path() {
    return path;
  }

  /** Creates a folder in this one. */
  Path createFolder(String name) throws IOException {
    return Files.createDirectories(path.resolve(name));
  }

  private void removeQuietly() {
    try {
      TreeRemoval.remove(path, TIMEOUT);
    } catch (IOException e) {
      // The process is ending; isola purge removes the folder.
    }
  }

  @Override
  public void close() throws IOException {
    try {
      TreeRemoval.remove(path, TIMEOUT);
    } finally {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The process is ending and the hook runs.
      }
    }
  }
}
