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
 * The native library of SQLite. Left to itself the driver unpacks it into the folder for temporary
 * files each time, where it stays when the process is killed. Here it is unpacked once, into a
 * folder of ours, and used again.
 */
final class SqliteNative {
  private static final String PATH = "org.sqlite.lib.path";
  private static final String NAME = "org.sqlite.lib.name";

  private SqliteNative() {}

  /**
   * Has the driver use a library in {@code folder}, unless somebody has told it where there is one.
   * Where this machine has none of its own the driver is left to itself.
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
        // Another version may be in use by a process that is ending: it keeps its own.
        Path draft = Files.write(folder.resolve(name + ".new"), library);
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
      }
    }
    System.setProperty(PATH, folder.toAbsolutePath().toString());
    System.setProperty(NAME, name);
  }
}
