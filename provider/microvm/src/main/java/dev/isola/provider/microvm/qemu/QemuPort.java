package dev.isola.provider.microvm.qemu;

import dev.isola.codec.json.Json;
import dev.isola.link.AgentAbsentException;
import dev.isola.link.VirtioPortConnector.PortOpener;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.UnaryOperator;

/**
 * The port of a machine. The server asks QEMU to connect to a socket of its own, which ends the
 * connection of another server: a QEMU that listens would accept the next server only when the
 * previous one has hung up.
 *
 * @param control QEMU's control socket
 * @param folder where the server creates its socket
 * @param view translates a path to what QEMU sees
 * @param user the user that QEMU runs as; empty for that of the server
 */
record QemuPort(Path control, Path folder, UnaryOperator<Path> view, OptionalLong user)
    implements PortOpener {
  /** The name of the port's backend on QEMU's command line. */
  static final String BACKEND = "agent";

  @Override
  public SocketChannel connect(Duration timeout) throws IOException {
    int number = ThreadLocalRandom.current().nextInt(1 << 16);
    Path socket = folder.resolve("a" + HexFormat.of().toHexDigits((short) number));
    try (ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      bind(listener, socket);
      try {
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
        if (user.isPresent()) {
          Files.setAttribute(socket, "unix:uid", Math.toIntExact(user.getAsLong()));
        }
        try (Qmp qmp = Qmp.connect(control)) {
          qmp.execute("chardev-change", backend(view.apply(socket)), timeout);
        }
        return accept(listener, timeout);
      } finally {
        Files.deleteIfExists(socket);
      }
    }
  }

  private void bind(ServerSocketChannel listener, Path socket) throws IOException {
    try {
      listener.bind(UnixDomainSocketAddress.of(socket));
    } catch (IOException e) {
      if (!Files.exists(control)) {
        throw new AgentAbsentException("the machine has no control socket " + control, e);
      }
      throw e;
    }
  }

  private static Map<String, Object> backend(Path socket) {
    Map<String, Object> address =
        Json.object("type", "unix", "data", Json.object("path", socket.toString()));
    return Json.object(
        "id",
        BACKEND,
        "backend",
        Json.object("type", "socket", "data", Json.object("addr", address, "server", false)));
  }

  private static SocketChannel accept(ServerSocketChannel listener, Duration timeout)
      throws IOException {
    listener.configureBlocking(false);
    try (Selector selector = Selector.open()) {
      SelectionKey key = listener.register(selector, SelectionKey.OP_ACCEPT);
      selector.select(Math.max(1, timeout.toMillis()));
      SocketChannel accepted = key.isValid() ? listener.accept() : null;
      if (accepted == null) {
        throw new SocketTimeoutException("QEMU did not connect to the port of the agent");
      }
      return accepted;
    }
  }

  @Override
  public String toString() {
    return "the port of QEMU at " + control;
  }
}
