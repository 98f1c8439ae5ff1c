package dev.isola.conformance;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/**
 * A temporary folder, removed on close. Its path is short, because the path of a Unix socket is
 * limited to 107 bytes. Other users can traverse it, because commands of a sandbox may run as
 * another user.
 */
public record TemporaryFolder(Path path) implements AutoCloseable {

  /** Creates a folder in {@code java.io.tmpdir}. */
  public static TemporaryFolder create(String prefix) {
    try {
      Path made = Files.createTempDirectory(prefix);
      Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwx--x--x"));
      return new TemporaryFolder(made);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Removes the folder and its content. Does not follow links, and ignores files that are already
   * gone.
   */
  @Override
  public void close() {
    remove(path);
  }

  /** Removes a folder as {@link #close()} does. */
  public static void remove(Path folder) {
    try {
      Files.walkFileTree(folder, new Remover());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final class Remover extends SimpleFileVisitor<Path> {
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
