package dev.isola.store;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** The database file of a SQLite ledger: copied while a server uses it, and replaced by a copy. */
public final class LedgerFiles {
  private static final List<String> SUFFIXES = List.of("", "-wal", "-shm");

  private LedgerFiles() {}

  /** Returns whether the folder has a ledger. */
  public static boolean exists(Path folder) {
    return Files.exists(folder.resolve(SqliteFile.NAME));
  }

  /**
   * Returns the pid of the process that has the ledger open. Creates nothing.
   *
   * @return empty if no process has; {@code unknown} if its pid cannot be read
   */
  public static Optional<String> owner(Path folder) {
    return FolderLock.owner(folder);
  }

  /**
   * Writes a consistent copy of the ledger, as of one moment, while a server may write to it.
   *
   * @param target the folder of the copy, which must not have a ledger
   */
  public static void copy(Path folder, Path target) {
    SqliteFile source = new SqliteFile(folder, LedgerConfig.DEFAULT_DEADLINE);
    try {
      Path copy =
          Files.createFile(
              target.resolve(SqliteFile.NAME),
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      try (Connection connection = source.reader()) {
        Sql.update(connection, "vacuum into ?", copy.toString());
      }
    } catch (IOException e) {
      throw failed("the ledger in " + folder + " cannot be copied to " + target, e);
    } catch (SQLException e) {
      throw source.failures().translate(e, false);
    }
    check(target);
  }

  /**
   * Checks that a folder has an undamaged ledger.
   *
   * @throws SandboxException if the file is missing, damaged or not a ledger
   */
  public static void check(Path folder) {
    if (!exists(folder)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "there is no ledger in " + folder,
              "use a backup that contains one")
          .exception();
    }
    new SqliteFile(folder, LedgerConfig.DEFAULT_DEADLINE).prepare();
  }

  /**
   * Moves a checked copy into the folder. An existing ledger is renamed, never removed.
   *
   * @param copy the folder of the copy, on the same file system
   * @param suffix appended to the name of an existing ledger
   * @throws dev.isola.spi.error.Conflict if a server has the ledger open; the message names its pid
   */
  public static void install(Path folder, Path copy, String suffix) {
    check(copy);
    try (FolderLock lock = FolderLock.acquire(folder)) {
      Path file = lock.folder().resolve(SqliteFile.NAME);
      Path old = file.resolveSibling(SqliteFile.NAME + "." + suffix);
      for (String part : SUFFIXES) {
        Path existing = file.resolveSibling(file.getFileName() + part);
        if (Files.exists(existing)) {
          Files.move(existing, old.resolveSibling(old.getFileName() + part));
        }
      }
      Files.move(copy.resolve(SqliteFile.NAME), file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw failed("the ledger cannot be moved to " + folder, e);
    }
  }

  private static SandboxException failed(String what, IOException cause) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            what + ": " + cause,
            "check the free space and the permissions of the folder")
        .exception(cause);
  }
}
