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
 * Who stands on something that is shared (an image, a layer): {@code used-by/NAME} in its folder,
 * holding a folder that is there as long as the user is, like a sandbox's own. A mark whose folder
 * is gone was left by a crash and does not count. A process is such a folder too, with the moment
 * of its start in a second line, since its number may be given to another.
 */
public final class UsageReferences {
  private static final String FOLDER = "used-by";

  /** How the name of a mark begins that is being written. */
  private static final String UNFINISHED = ".";

  /** Makes something that is shared, and has no users yet, ready for marks. */
  public static void initialize(Path shared) throws IOException {
    Files.createDirectory(shared.resolve(FOLDER));
  }

  public void add(Path shared, String user, Path usersFolder) throws IOException {
    add(List.of(shared), user, usersFolder);
  }

  /** Notes that somebody uses several things, all in one file system. */
  public void add(List<Path> shared, String user, Path usersFolder) throws IOException {
    write(shared, user, usersFolder.toAbsolutePath().toString());
  }

  /** Notes that a process uses them, which stops with its end. */
  public void add(List<Path> shared, String user, AgentProcess process) throws IOException {
    write(shared, user, "/proc/" + process.pid() + "\n" + process.startTime());
  }

  /** A mark is there whole or not at all; many marks are one file with many names. */
  private static void write(List<Path> shared, String user, String text) throws IOException {
    if (shared.isEmpty()) {
      return;
    }
    Path marks = shared.getFirst().resolve(FOLDER);
    if (!Files.isDirectory(marks)) {
      Files.createDirectory(marks);
    }
    Path unfinished = marks.resolve(UNFINISHED + user);
    Path mark = marks.resolve(user);
    Files.writeString(unfinished, text);
    Files.move(unfinished, mark, StandardCopyOption.ATOMIC_MOVE);
    for (Path one : shared.subList(1, shared.size())) {
      try {
        Files.createLink(one.resolve(FOLDER).resolve(user), mark);
      } catch (FileAlreadyExistsException already) {
        // It says the same.
      }
    }
  }

  public void remove(Path shared, String user) throws IOException {
    Files.deleteIfExists(shared.resolve(FOLDER).resolve(user));
  }

  /** Returns who stands on it, in order. */
  public List<String> holders(Path shared) throws IOException {
    List<String> ids = new ArrayList<>();
    try (DirectoryStream<Path> marks = Files.newDirectoryStream(shared.resolve(FOLDER))) {
      for (Path mark : marks) {
        if (isLive(mark)) {
          ids.add(mark.getFileName().toString());
        }
      }
    } catch (NoSuchFileException none) {
      return List.of();
    }
    ids.sort(null);
    return ids;
  }

  /** Tells whether somebody stands on it, without looking at all of them. */
  public boolean isInUse(Path shared) throws IOException {
    try (DirectoryStream<Path> marks = Files.newDirectoryStream(shared.resolve(FOLDER))) {
      for (Path mark : marks) {
        if (isLive(mark)) {
          return true;
        }
      }
    } catch (NoSuchFileException none) {
      return false;
    }
    return false;
  }

  private static boolean isLive(Path mark) throws IOException {
    if (mark.getFileName().toString().startsWith(UNFINISHED)) {
      return false;
    }
    try {
      String[] lines = Files.readString(mark).split("\n", -1);
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
