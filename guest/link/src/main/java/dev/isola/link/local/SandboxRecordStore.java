package dev.isola.link.local;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Stored sandboxes of this instance, one folder each. */
record SandboxRecordStore(Path path) {

  /** A sandbox with a record. */
  record StoredSandbox(SandboxFolder folder, SandboxRecord record) {}

  SandboxFolder of(SandboxId id) {
    return new SandboxFolder(path.resolve(id.value()));
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
