package dev.isola.app.servers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.function.Consumer;

/** Accepts connections at a port of the loopback interface, each with a thread of its own. */
final class LoopbackListener implements AutoCloseable {
  private static final int BACKLOG = 200;

  private final ServerSocket server;
  private final Consumer<Socket> serve;

  LoopbackListener(String name, Consumer<Socket> serve) throws IOException {
    this.serve = serve;
    server = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().name(name).start(this::accept);
  }

  int port() {
    return server.getLocalPort();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = server.accept();
        Thread.ofVirtual().start(() -> serve.accept(client));
      }
    } catch (IOException e) {
      // The listener was closed.
    }
  }

  static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // Closed already.
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
