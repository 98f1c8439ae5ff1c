package dev.isola.provider.microvm.firecracker;

import dev.isola.link.UnixSocketConnector;
import dev.isola.link.local.TreeRemoval;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The working folder of a Firecracker process, which is its root if it is jailed. Requests name
 * files relative to it, so that a machine that continues from a snapshot, which contains the names,
 * uses its own files.
 *
 * @param user the user of the jailed process; empty for that of the server
 */
record FirecrackerFolder(Path path, Optional<Integer> user) {
  /** Names of files as requests contain them. */
  static final String API = "api";

  static final String VSOCK = "v"; // the paths of sockets are limited
  static final String KERNEL = "kernel";
  static final String INITRAMFS = "initramfs";
  static final String ROOT_DISK = "disk";
  static final String SCRATCH_DISK = "scratch";
  static final FirecrackerApi.Snapshot SNAPSHOT = new FirecrackerApi.Snapshot("state", "memory");

  /** The port of the host that the agent dials. */
  static final int AGENT_PORT = 1024;

  private static final int ROOT = 0;

  /** Every user may create files, and remove only its own; other users cannot enter. */
  private static final int STICKY = 01777;

  private static final Set<PosixFilePermission> READABLE =
      PosixFilePermissions.fromString("r--r--r--");
  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /**
   * Creates the folder.
   *
   * @throws dev.isola.spi.error.InvalidRequest when its path is too long for the sockets in it
   */
  void create() throws IOException {
    UnixSocketConnector.requireValidPath(agentSocket());
    Files.createDirectories(path, OWNER_ONLY);
  }

  /** Removes what an earlier process has left behind, but not the scratch disk. */
  void clear() throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
      for (Path file : files) {
        if (!file.getFileName().toString().equals(SCRATCH_DISK)) {
          TreeRemoval.remove(file);
        }
      }
    }
  }

  /**
   * Takes the folder back, which the jailer gives to the user of the jailed process: the process
   * can create files from now on, but not replace those of the server. Otherwise a Firecracker that
   * its guest has taken over could rename the image's disk to what the server is about to give it.
   */
  void protect() throws IOException {
    if (user.isPresent()) {
      Files.setAttribute(path, "unix:gid", ROOT);
      Files.setAttribute(path, "unix:uid", ROOT);
      Files.setAttribute(path, "unix:mode", STICKY);
    }
  }

  Path api() {
    return path.resolve(API);
  }

  /**
   * Returns the socket on which Firecracker connects for a guest that dials {@link #AGENT_PORT}.
   */
  Path agentSocket() {
    return path.resolve(VSOCK + "_" + AGENT_PORT);
  }

  Path file(String name) {
    return path.resolve(name);
  }

  /**
   * Makes a file of the server available under a name, to be read only. It stays the server's, so
   * that a Firecracker that its guest has taken over cannot change what other machines use.
   */
  void link(Path source, String name) throws IOException {
    if (user.isPresent()) {
      Files.setPosixFilePermissions(source, READABLE);
    }
    try {
      Files.createLink(file(name), source);
    } catch (FileAlreadyExistsException e) {
      throw e;
    } catch (FileSystemException e) {
      throw new IOException(
          source
              + " cannot be linked to "
              + path
              + ", which must be on the same file system: "
              + e.getReason(),
          e);
    }
  }

  /** Makes a file that a process has written the property of the server, to be read only. */
  static void giveToServer(Path file) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    for (String id : List.of("unix:uid", "unix:gid")) {
      Files.setAttribute(file, id, Files.getAttribute(folder, id));
    }
    Files.setPosixFilePermissions(file, READABLE);
  }

  /** Makes a file the property of the user of the process; the owner may write to it. */
  void giveToUser(Path file) throws IOException {
    if (user.isPresent()) {
      Files.setAttribute(file, "unix:gid", user.get(), LinkOption.NOFOLLOW_LINKS);
      Files.setAttribute(file, "unix:uid", user.get(), LinkOption.NOFOLLOW_LINKS);
    }
  }
}
