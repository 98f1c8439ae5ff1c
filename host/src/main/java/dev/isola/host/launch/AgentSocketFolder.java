package dev.isola.host.launch;

import dev.isola.link.local.SandboxFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The folder that a sandbox shares with the host for the agent's socket, where no descriptor can be
 * handed over. The sandbox can write to it only while it boots: later it could put a link to some
 * other socket of the host's in the place of its own.
 */
record AgentSocketFolder(SandboxFolder folder, SandboxUserIds users) {
  /** The socket's name in it. */
  static final String SOCKET = "agent";

  private static final int CLOSED = 0711;
  private static final int OPEN = 0700;

  Path path() {
    return folder.path().resolve("run");
  }

  /** Makes it, and a link to the socket where the link expects the agent's. */
  void create() throws IOException {
    Files.createDirectory(path());
    Files.createSymbolicLink(folder.socket(), Path.of(path().getFileName().toString(), SOCKET));
  }

  /** Lets the agent make its socket; one of before goes. */
  void open() throws IOException {
    Files.deleteIfExists(path().resolve(SOCKET));
    Files.setAttribute(path(), "unix:mode", OPEN);
    users.chown(path());
  }

  /** Takes the folder away from the sandbox. */
  void close() throws IOException {
    SandboxUserIds.SERVER.chown(path());
    Files.setAttribute(path(), "unix:mode", CLOSED);
  }
}
