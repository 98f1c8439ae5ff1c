package dev.isola.app.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Describes {@link IOException}s, which often carry their reason only in their class. */
public final class IoErrors {
  private IoErrors() {}

  public static String describe(IOException e) {
    return switch (e) {
      case AccessDeniedException denied -> "permission denied: " + denied.getFile();
      case NoSuchFileException missing -> missing.getFile() + " does not exist";
      case FileAlreadyExistsException existing -> existing.getFile() + " already exists";
      case FileSystemException other when other.getReason() != null ->
          other.getFile() + ": " + other.getReason();
      default -> e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    };
  }
}
