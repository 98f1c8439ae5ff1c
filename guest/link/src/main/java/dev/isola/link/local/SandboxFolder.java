package dev.isola.link.local;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/** The folder of one sandbox in the provider's data folder, and what lies where in it. */
public record SandboxFolder(Path path) {
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
  public void make() throws IOException {
    Files.createDirectories(path.getParent());
    Files.createDirectory(
        path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx--x--x")));
  }

  /**
   * Removes the folder and all in it, never following a link. Called when no process of the sandbox
   * is left; something that is gone already is no error.
   */
  public void remove() throws IOException {
    for (int attempt = 0; Files.exists(path); attempt++) {
      try {
        Files.walkFileTree(path, new Remover());
      } catch (DirectoryNotEmptyException e) {
        if (attempt == 10) {
          throw e;
        }
      }
    }
  }

  private static final class Remover extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes ignored)
        throws IOException {
      if (!Files.isExecutable(folder) || !Files.isReadable(folder) || !Files.isWritable(folder)) {
        try {
          Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        } catch (NoSuchFileException e) {
          return FileVisitResult.SKIP_SUBTREE; // another process removes it, too
        }
      }
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes ignored) throws IOException {
      Files.deleteIfExists(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
      if (e instanceof NoSuchFileException) {
        return FileVisitResult.CONTINUE;
      }
      if (e instanceof AccessDeniedException) {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
        Files.walkFileTree(file, this);
        return FileVisitResult.CONTINUE;
      }
      throw e;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException failed)
        throws IOException {
      if (failed != null) {
        throw failed;
      }
      Files.deleteIfExists(folder);
      return FileVisitResult.CONTINUE;
    }
  }
}
