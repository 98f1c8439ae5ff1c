package dev.isola.app.instance;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Set;

/**
 * Shows that this process uses an installation, for as long as it is open: a descriptor of the file
 * with the instance id. Other processes read the id through the descriptor, so they find it
 * whatever the path of the data folder is in either process, also if the folder was removed.
 */
public final class InstanceClaim implements AutoCloseable {
  /** The file of a data folder with its instance id. */
  public static final String FILE = "instance";

  private static final String DELETED = " (deleted)";
  private static final int MAX_BYTES = 64;

  private final FileChannel file;

  private InstanceClaim(FileChannel file) {
    this.file = file;
  }

  /**
   * Opens the claim of a data folder.
   *
   * @param data a folder that has an instance id
   */
  public static InstanceClaim open(Path data) {
    try {
      return new InstanceClaim(FileChannel.open(data.resolve(FILE)));
    } catch (IOException e) {
      throw new UncheckedIOException("the instance id of " + data + " cannot be read", e);
    }
  }

  /** Returns the installations that a process claims. Empty if its descriptors cannot be read. */
  static Set<InstanceId> of(Path process) {
    Set<InstanceId> found = new HashSet<>();
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
      for (Path descriptor : descriptors) {
        read(descriptor, found);
      }
    } catch (IOException | DirectoryIteratorException goneOrNotOurs) {
      return found;
    }
    return found;
  }

  private static void read(Path descriptor, Set<InstanceId> found) {
    try {
      String target = Files.readSymbolicLink(descriptor).toString();
      String name =
          target.endsWith(DELETED)
              ? target.substring(0, target.length() - DELETED.length())
              : target;
      if (name.endsWith("/" + FILE)) {
        BasicFileAttributes file = Files.readAttributes(descriptor, BasicFileAttributes.class);
        // Opening anything else, such as a pipe, could block.
        if (file.isRegularFile() && file.size() <= MAX_BYTES) {
          String id =
              new String(Files.readAllBytes(descriptor), StandardCharsets.ISO_8859_1).strip();
          if (SandboxId.isValid(id)) {
            found.add(new InstanceId(id));
          }
        }
      }
    } catch (IOException closedMeanwhile) {
      // It is not a claim any more.
    }
  }

  @Override
  public void close() {
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
