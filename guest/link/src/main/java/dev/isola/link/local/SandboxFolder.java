package dev.isola.link.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** The folder of one sandbox in the provider's data folder, and what lies where in it. */
public record SandboxFolder(Path path) {
  private static final FileAttribute<Set<PosixFilePermission>> PASSAGE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx--x--x"));

  public Path record() {
    return path.resolve("record");
  }

  public Path socket() {
    return path.resolve("agent");
  }

  public Path lock() {
    return path.resolve("lock");
  }

  public Path workspace() {
    return path.resolve("workspace");
  }

  /**
   * Returns where the home folder is when the workspace is the caller's, which programs shall not
   * litter.
   */
  public Path home() {
    return path.resolve("home");
  }

  public boolean exists() {
    return Files.isDirectory(path);
  }

  /** Makes the folder; others may pass through to the workspace, but see nothing. */
  public void create() throws IOException {
    Files.createDirectories(path.getParent(), PASSAGE);
    Files.createDirectory(path, PASSAGE);
  }

  /**
   * Removes the folder and all in it, never following a link. Called when no process of the sandbox
   * is left; something that is gone already is no error.
   */
  public void remove() throws IOException {
    TreeRemoval.remove(path);
  }
}
