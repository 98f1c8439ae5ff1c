package dev.isola.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A separate folder per test. */
public final class SqliteTestDatabase implements TestDatabase {

  @Override
  public LedgerConfig fresh() {
    try {
      return LedgerConfig.sqlite(Files.createTempDirectory("isola-ledger-").resolve("state"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Path folder(LedgerConfig config) {
    if (config.location() instanceof LedgerConfig.Folder folder) {
      return folder.folder();
    }
    throw new IllegalArgumentException("not in a folder");
  }

  @Override
  public void remove(LedgerConfig config) {
    try (Stream<Path> files = Files.walk(folder(config).resolveSibling(""))) {
      List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
      for (Path file : deepestFirst) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
