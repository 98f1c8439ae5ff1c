package dev.isola.host.launch;

import dev.isola.link.InstalledProgram;
import dev.isola.link.UnixSocketAcceptor;
import dev.isola.link.local.SandboxFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The folder with the socket that the agent of a sandbox dials. It is read-only in the sandbox,
 * where a guest process could otherwise put a socket of its own in place of the server's.
 */
record AgentSocketFolder(SandboxFolder folder, SandboxUserIds users) {
  /** The name of the socket in the folder. */
  static final String SOCKET = "agent";

  /** The name of the file with the sandbox's id. */
  private static final String ID = "sandbox";

  private static final int FOLDER_MODE = 0755;
  private static final int SOCKET_MODE = 0600;
  private static final int ID_MODE = 0644;

  Path path() {
    return folder.path().resolve("run");
  }

  /**
   * Binds the socket, creating the folder if necessary. Only root of the sandbox can dial it.
   *
   * @param relay the program to which the agent can hand connections over; empty if it cannot
   */
  UnixSocketAcceptor bind(BooleanSupplier alive, Optional<InstalledProgram> relay)
      throws IOException {
    if (!Files.exists(path().resolve(ID))) {
      Files.createDirectories(path());
      Files.setAttribute(path(), "unix:mode", FOLDER_MODE);
      writeSandboxId();
    }
    Path socket = path().resolve(SOCKET);
    return relay.isPresent()
        ? UnixSocketAcceptor.bind(socket, this::grant, alive, relay.get())
        : UnixSocketAcceptor.bind(socket, this::grant, alive);
  }

  /** A restored agent recognizes by this file that it continues in another sandbox. */
  private void writeSandboxId() throws IOException {
    Path unpublished = path().resolve(ID + ".new");
    Files.writeString(unpublished, folder.path().getFileName().toString());
    Files.setAttribute(unpublished, "unix:mode", ID_MODE);
    Files.move(unpublished, path().resolve(ID), StandardCopyOption.ATOMIC_MOVE);
  }

  private void grant(Path socket) throws IOException {
    Files.setAttribute(socket, "unix:mode", SOCKET_MODE);
    users.chown(socket);
  }
}
