package dev.isola.host;

import dev.isola.link.local.AgentProcess;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/**
 * References to a shared object such as an image or a layer: the file {@code used-by/NAME} in the
 * folder of the object contains the path of a folder that exists as long as the holder does,
 * usually the folder of a sandbox. A reference whose folder is gone was left behind by a crash and
 * does not count. A process is referenced by its folder in {@code /proc} and, on a second line, its
 * start time, because its pid can be reused.
 */
public final class UsageReferences {
  private static final String FOLDER = "used-by";

  /** Prefix of the name of a reference that is being written. */
  private static final String UNFINISHED = ".";

  /** Prepares a shared object without holders for references. */
  public static void initialize(Path shared) throws IOException {
    Files.createDirectory(shared.resolve(FOLDER));
  }

  public void add(Path shared, String user, Path usersFolder) throws IOException {
    add(List.of(shared), user, usersFolder);
  }

  /** Adds references to several objects, all on one file system, for the same holder. */
  public void add(List<Path> shared, String user, Path usersFolder) throws IOException {
    write(shared, user, usersFolder.toAbsolutePath().toString());
  }

  /** Adds references that end with a process. */
  public void add(List<Path> shared, String user, AgentProcess process) throws IOException {
    write(shared, user, "/proc/" + process.pid() + "\n" + process.startTime());
  }

  /** Writes references atomically; several references are hard links to one file. */
  private static void write(List<Path> shared, String user, String text) throws IOException {
    if (shared.isEmpty()) {
      return;
    }
    Path marks = shared.getFirst().resolve(FOLDER);
    if (!Files.isDirectory(marks)) {
      Files.createDirectory(marks);
    }
    Path unfinished = marks.resolve(UNFINISHED + user);
    Path reference = marks.resolve(user);
    Files.writeString(unfinished, text);
    Files.move(unfinished, reference, StandardCopyOption.ATOMIC_MOVE);
    for (Path object : shared.subList(1, shared.size())) {
      try {
        Files.createLink(object.resolve(FOLDER).resolve(user), reference);
      } catch (FileAlreadyExistsException already) {
        // The existing reference has the same content.
      }
    }
  }

  public void remove(Path shared, String user) throws IOException {
    Files.deleteIfExists(shared.resolve(FOLDER).resolve(user));
  }

  /** Returns the holders of references, sorted. */
  public List<String> holders(Path shared) throws IOException {
    List<String> ids = new ArrayList<>();
    try (DirectoryStream<Path> marks = Files.newDirectoryStream(shared.resolve(FOLDER))) {
      for (Path reference : marks) {
        if (isLive(reference)) {
          ids.add(reference.getFileName().toString());
        }
      }
    } catch (NoSuchFileException none) {
      return List.of();
    }
    ids.sort(null);
    return ids;
  }

  /** Reports whether there is a live reference, without reading all of them. */
  public boolean isInUse(Path shared) throws IOException {
    try (DirectoryStream<Path> marks = Files.newDirectoryStream(shared.resolve(FOLDER))) {
      for (Path reference : marks) {
        if (isLive(reference)) {
          return true;
        }
      }
    } catch (NoSuchFileException none) {
      return false;
    }
    return false;
  }

  private static boolean isLive(Path reference) throws IOException {
    if (reference.getFileName().toString().startsWith(UNFINISHED)) {
      return false;
    }
    try {
      String[] lines = Files.readString(reference).split("\n", -1);
      Path folder = Path.of(lines[0]);
      return lines.length == 1
          ? Files.isDirectory(folder)
          : new AgentProcess(
                  Long.parseLong(folder.getFileName().toString()), Long.parseLong(lines[1]), false)
              .isAlive();
    } catch (NoSuchFileException released) {
      return false;
    }
  }
}
