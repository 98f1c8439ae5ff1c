package dev.isola.link.local;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Folders for the use of one server process, whose names tell which one: the next server process
 * finds what a killed one has left behind.
 *
 * @param folder where they are; need not exist
 */
public record ProcessFolders(Path folder) {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final FileAttribute<?> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /** Pid and start time of the process. */
  private static final Pattern NAME = Pattern.compile("(\\d+)-(\\d+)-[0-9a-f]+");

  /** Creates a folder for this process. */
  public Path create() throws IOException {
    Files.createDirectories(folder, OWNER_ONLY);
    byte[] random = new byte[8];
    RANDOM.nextBytes(random);
    long pid = ProcessHandle.current().pid();
    long start = AgentProcess.startTimeOf(pid).orElse(0L);
    return Files.createDirectory(
        folder.resolve(pid + "-" + start + "-" + HexFormat.of().formatHex(random)), OWNER_ONLY);
  }

  /** Returns the folders of processes that are gone. */
  public List<Path> abandoned() throws IOException {
    List<Path> abandoned = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(folder)) {
      for (Path one : all) {
        Matcher name = NAME.matcher(one.getFileName().toString());
        if (name.matches() && !isAlive(name)) {
          abandoned.add(one);
        }
      }
    } catch (NoSuchFileException none) {
      // There never was one.
    }
    return abandoned;
  }

  private static boolean isAlive(Matcher name) {
    return new AgentProcess(Long.parseLong(name.group(1)), Long.parseLong(name.group(2)), false)
        .isAlive();
  }
}
