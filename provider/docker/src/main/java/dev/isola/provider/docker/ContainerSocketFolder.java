package dev.isola.provider.docker;

import dev.isola.link.UnixSocketConnector;
import dev.isola.link.local.TreeRemoval;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/**
 * The folder of one sandbox on this machine: where its agent's socket is. The container is given
 * the folder {@code run} in it to make the socket, and once that is there we take a second name of
 * it that the sandbox cannot reach, and take the folder away: later it could put a link to some
 * other socket in the place of its own, or fill our disk.
 */
record ContainerSocketFolder(Path path, InstanceId instance) {
  private static final String SOCKET = "agent";

  static ContainerSocketFolder of(Path dataFolder, InstanceId instance, SandboxId id) {
    return new ContainerSocketFolder(all(dataFolder).resolve(id.value()), instance);
  }

  private static Path all(Path dataFolder) {
    return dataFolder.resolve("sandboxes");
  }

  /** Returns the sandboxes of this instance that have a folder. */
  static List<SandboxId> list(Path dataFolder, InstanceId instance) throws IOException {
    List<SandboxId> found = new ArrayList<>();
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(all(dataFolder))) {
      for (Path folder : folders) {
        String name = folder.getFileName().toString();
        if (SandboxId.isValid(name) && new ContainerSocketFolder(folder, instance).exists()) {
          found.add(new SandboxId(name));
        }
      }
    } catch (NoSuchFileException none) {
      return List.of();
    }
    return found;
  }

  Path socket() {
    return path.resolve(SOCKET);
  }

  /** Returns the folder that the container is given. */
  Path shared() {
    return path.resolve("run");
  }

  private Path mark(Path folder) {
    return folder.resolve("of-" + instance);
  }

  /** Tells whether it is there and ours; another instance's is not. */
  boolean exists() {
    return Files.exists(mark(path));
  }

  /**
   * Makes it; of two processes that want the same, one gets it.
   *
   * @throws dev.isola.spi.error.Conflict when somebody has it
   */
  void claim(SandboxId id) throws IOException {
    UnixSocketConnector.requireValidPath(socket());
    Files.createDirectories(path.getParent());
    Path draft = Files.createTempDirectory(path.getParent(), ".new"); // only for its owner
    try {
      Files.createFile(mark(draft));
      // The kernel refuses to move a folder onto one that is not empty, which ours never is.
      Files.move(draft, path, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      if (!Files.exists(path)) {
        throw e;
      }
      throw Fault.of(
              ErrorCode.CONFLICT,
              "another process is making sandbox " + id + ", or left remains of it",
              "attach to it, destroy it, or use another id")
          .sandbox(id)
          .exception(e);
    } finally {
      TreeRemoval.remove(draft);
    }
  }

  /** Lets the agent make its socket; the folder around it keeps everybody else out. */
  void open() throws IOException {
    Files.deleteIfExists(socket());
    TreeRemoval.remove(shared());
    Files.createDirectory(shared());
    Files.setPosixFilePermissions(shared(), PosixFilePermissions.fromString("rwxrwxrwx"));
  }

  /** Takes the socket, and the folder away from the sandbox. */
  void close() throws IOException {
    Path made = shared().resolve(SOCKET);
    if (Files.isSymbolicLink(made)) {
      throw new IOException("what was made is not a socket");
    }
    Files.createLink(socket(), made);
    TreeRemoval.remove(shared());
  }

  /** Removes it, the mark that it is ours last: what is left half-way can still be removed. */
  void remove() throws IOException {
    TreeRemoval.remove(shared());
    Files.deleteIfExists(socket());
    TreeRemoval.remove(path);
  }
}
