package dev.isola.store;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import org.sqlite.SQLiteJDBCLoader;
import org.sqlite.util.OSInfo;

/**
 * SQLite's native library. By default the driver extracts it to the folder for temporary files at
 * every start, where it stays if the process is killed. This class extracts it once, to a folder of
 * the ledger, and reuses it.
 */
final class SqliteNative {
  private static final String PATH = "org.sqlite.lib.path";
  private static final String NAME = "org.sqlite.lib.name";

  private SqliteNative() {}

  /**
   * Makes the driver load the library from {@code folder}, unless a system property already names
   * one. If the driver has no library for this platform, its default applies.
   */
  static synchronized void useFolder(Path folder) throws IOException {
    if (System.getProperty(PATH) != null) {
      return;
    }
    String name = System.mapLibraryName("sqlitejdbc");
    String resource =
        "/org/sqlite/native/" + OSInfo.getNativeLibFolderPathForCurrentOS() + "/" + name;
    try (InputStream in = SQLiteJDBCLoader.class.getResourceAsStream(resource)) {
      if (in == null) {
        return;
      }
      byte[] library = in.readAllBytes();
      Path file = folder.resolve(name);
      if (!Files.isRegularFile(file) || !Arrays.equals(Files.readAllBytes(file), library)) {
        // A process that is still shutting down may use another version, whose file must not
        // change.
        Path draft = Files.write(folder.resolve(name + ".new"), library);
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
      }
    }
    System.setProperty(PATH, folder.toAbsolutePath().toString());
    System.setProperty(NAME, name);
  }
}
