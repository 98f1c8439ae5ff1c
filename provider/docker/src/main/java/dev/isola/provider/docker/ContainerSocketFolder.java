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
 * The host folder of one sandbox, which holds its agent's socket. The container mounts the
 * subfolder {@code run} to create the socket. Once the socket exists, the server makes a hard link
 * to it that the sandbox cannot reach, and withdraws the folder; otherwise the sandbox could later
 * replace its socket with a link to another one, or fill the host's disk.
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

  /** Returns the folder that the container mounts. */
  Path shared() {
    return path.resolve("run");
  }

  private Path mark(Path folder) {
    return folder.resolve("of-" + instance);
  }

  /** Tells whether the folder exists and belongs to this instance. */
  boolean exists() {
    return Files.exists(mark(path));
  }

  /**
   * Creates the folder; if two processes try, one succeeds.
   *
   * @throws dev.isola.spi.error.Conflict if it exists
   */
  void claim(SandboxId id) throws IOException {
    UnixSocketConnector.requireValidPath(socket());
    Files.createDirectories(path.getParent());
    Path draft = Files.createTempDirectory(path.getParent(), ".new"); // Owner only.
    try {
      Files.createFile(mark(draft));
      // The kernel refuses to rename a folder onto a non-empty one, and this folder is never
      // empty.
      Files.move(draft, path, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      if (!Files.exists(path)) {
        throw e;
      }
      throw Fault.of(
              ErrorCode.CONFLICT,
              "another process is creating sandbox " + id + ", or did not remove it completely",
              "attach to it, destroy it, or use another id")
          .sandbox(id)
          .exception(e);
    } finally {
      TreeRemoval.remove(draft);
    }
  }

  /**
   * Allows the agent to create its socket; the permissions of the parent folder keep other users
   * out.
   */
  void open() throws IOException {
    Files.deleteIfExists(socket());
    TreeRemoval.remove(shared());
    Files.createDirectory(shared());
    Files.setPosixFilePermissions(shared(), PosixFilePermissions.fromString("rwxrwxrwx"));
  }

  /** Links the socket and withdraws the folder from the sandbox. */
  void close() throws IOException {
    Path made = shared().resolve(SOCKET);
    if (Files.isSymbolicLink(made)) {
      throw new IOException("the container did not create a socket");
    }
    Files.createLink(socket(), made);
    TreeRemoval.remove(shared());
  }

  /**
   * Removes the folder, the ownership mark last, so that an interrupted removal can be repeated.
   */
  void remove() throws IOException {
    TreeRemoval.remove(shared());
    Files.deleteIfExists(socket());
    TreeRemoval.remove(path);
  }
}
