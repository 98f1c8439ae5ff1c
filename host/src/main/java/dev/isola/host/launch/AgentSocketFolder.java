package dev.isola.host.launch;

import dev.isola.link.local.SandboxFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The folder that a sandbox shares with the host for the agent's socket, used when no descriptor
 * can be passed. The sandbox can write to it only during boot; later it could replace its socket
 * with a link to another socket of the host.
 */
record AgentSocketFolder(SandboxFolder folder, SandboxUserIds users) {
  /** The name of the socket in the folder. */
  static final String SOCKET = "agent";

  private static final int CLOSED = 0711;
  private static final int OPEN = 0700;

  Path path() {
    return folder.path().resolve("run");
  }

  /** Creates the folder and a symbolic link to the socket at the path where clients expect it. */
  void create() throws IOException {
    Files.createDirectory(path());
    Files.createSymbolicLink(folder.socket(), Path.of(path().getFileName().toString(), SOCKET));
  }

  /** Lets the agent create its socket, after removing that of a previous run. */
  void open() throws IOException {
    Files.deleteIfExists(path().resolve(SOCKET));
    Files.setAttribute(path(), "unix:mode", OPEN);
    users.chown(path());
  }

  /** Revokes the sandbox's write access. */
  void close() throws IOException {
    SandboxUserIds.SERVER.chown(path());
    Files.setAttribute(path(), "unix:mode", CLOSED);
  }
}
