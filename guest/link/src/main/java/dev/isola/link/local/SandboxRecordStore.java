package dev.isola.link.local;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Stored sandboxes of this instance, one folder each.
 *
 * @param path where the folders are
 * @param unfinished where a folder is until it has its record
 */
record SandboxRecordStore(Path path, ProcessFolders unfinished) {
  static SandboxRecordStore in(Path dataFolder) {
    return new SandboxRecordStore(
        dataFolder.resolve("sandboxes"), new ProcessFolders(dataFolder.resolve("creating")));
  }

  /** A sandbox with a record. */
  record StoredSandbox(SandboxFolder folder, SandboxRecord record) {}

  SandboxFolder of(SandboxId id) {
    return new SandboxFolder(path.resolve(id.value()));
  }

  /**
   * Creates the folder of a sandbox together with its record, so that the inventory has it from its
   * first moment. When two processes create the same id at once, one of them succeeds.
   *
   * @param unverified whether it has the mark of a sandbox that must not run yet
   * @throws FileAlreadyExistsException if the sandbox exists
   */
  void create(SandboxRecord record, boolean unverified) throws IOException {
    SandboxFolder folder = of(record.id());
    Path own = unfinished.create();
    try {
      SandboxFolder created = new SandboxFolder(own.resolve(record.id().value()));
      created.create();
      if (unverified) {
        Files.createFile(created.unverified());
      }
      record.writeNew(created.record());
      folder.createParent();
      move(created, folder);
    } finally {
      TreeRemoval.remove(own);
    }
  }

  private static void move(SandboxFolder created, SandboxFolder to) throws IOException {
    try {
      Files.move(created.path(), to.path(), StandardCopyOption.ATOMIC_MOVE);
    } catch (FileSystemException e) {
      if (to.exists()) {
        throw new FileAlreadyExistsException(to.path().toString());
      }
      throw e;
    }
  }

  /**
   * Removes what server processes have left that were killed while they created the folder of a
   * sandbox, or had removed all of it but the empty folder.
   */
  void removeUnfinished() {
    try {
      for (Path abandoned : unfinished.abandoned()) {
        TreeRemoval.remove(abandoned);
      }
      if (Files.isDirectory(path)) {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(path)) {
          for (Path folder : folders) {
            removeIfEmpty(folder);
          }
        }
      }
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  private static void removeIfEmpty(Path folder) throws IOException {
    if (Files.exists(new SandboxFolder(folder).record())) {
      return;
    }
    try {
      Files.delete(folder);
    } catch (DirectoryNotEmptyException | NoSuchFileException inUse) {
      // It has content, or another process has removed it.
    }
  }

  Optional<StoredSandbox> find(SandboxId id) {
    return read(of(id));
  }

  /** Returns every sandbox of {@code instance} that has a record. */
  List<StoredSandbox> list(String instance) {
    return list(instance, Set.of());
  }

  /** Like {@link #list(String)}, but without reading the records of {@code except}. */
  List<StoredSandbox> list(String instance, Set<SandboxId> except) {
    Set<String> excluded = except.stream().map(SandboxId::value).collect(Collectors.toSet());
    List<StoredSandbox> found = new ArrayList<>();
    if (!Files.isDirectory(path)) {
      return found;
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
      for (Path entry : entries) {
        if (excluded.contains(entry.getFileName().toString())) {
          continue;
        }
        read(new SandboxFolder(entry))
            .filter(stored -> stored.record().instance().equals(instance))
            .ifPresent(found::add);
      }
    } catch (IOException e) {
      throw unreadable(e);
    }
    return found;
  }

  private Optional<StoredSandbox> read(SandboxFolder folder) {
    try {
      return SandboxRecord.read(folder.record()).map(record -> new StoredSandbox(folder, record));
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  private SandboxException unreadable(IOException e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the data folder cannot be read: " + e.getMessage(),
            "check the permissions of " + path)
        .exception(e);
  }
}
