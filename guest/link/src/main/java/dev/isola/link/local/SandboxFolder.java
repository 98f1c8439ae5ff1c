package dev.isola.link.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;

/** Layout of the folder of one sandbox in the provider's data folder. */
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

  /**
   * Returns the mark of a sandbox that is being restored and must not run before it is verified.
   */
  Path unverified() {
    return path.resolve("unverified");
  }

  public Path workspace() {
    return path.resolve("workspace");
  }

  /**
   * Returns the home folder used when the client provides the workspace, so that programs do not
   * write their settings there.
   */
  public Path home() {
    return path.resolve("home");
  }

  public boolean exists() {
    return Files.isDirectory(path);
  }

  /** Creates the folder. Other users may traverse it to the workspace but not list it. */
  public void create() throws IOException {
    createParent();
    Files.createDirectory(path, PASSAGE);
  }

  /** Creates the folder that this one is in, unless it exists. */
  void createParent() throws IOException {
    Files.createDirectories(path.getParent(), PASSAGE);
  }

  /**
   * Removes the folder recursively without following links. Called when no process of the sandbox
   * is left; does nothing when it does not exist. The record is removed last: while anything is
   * left, the sandbox is in the inventory, also after the server was killed.
   */
  public void remove() throws IOException {
    TreeRemoval.remove(path, Optional.of(record().getFileName()), TreeRemoval.DEADLINE);
  }
}
