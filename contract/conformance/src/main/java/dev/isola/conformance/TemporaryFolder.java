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
 * A temporary folder with a short path, because a unix socket's may have 107 bytes in all, that
 * others may pass through, because a sandbox's user may be another. Closing it removes it.
 */
public record TemporaryFolder(Path path) implements AutoCloseable {

  /** Makes a folder in {@code java.io.tmpdir}. */
  public static TemporaryFolder create(String prefix) {
    try {
      Path made = Files.createTempDirectory(prefix);
      Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwx--x--x"));
      return new TemporaryFolder(made);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Removes the folder and all in it; links are never followed, what is gone is no error. */
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
