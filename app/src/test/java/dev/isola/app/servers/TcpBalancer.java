package dev.isola.app.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Copies each connection to one of several servers, chosen at random among those that accept. */
final class TcpBalancer implements AutoCloseable {
  private final LoopbackListener listener;
  private final List<Integer> ports;
  private final Random random;

  TcpBalancer(List<Integer> ports, long seed) throws IOException {
    this.ports = List.copyOf(ports);
    random = new Random(seed);
    listener = new LoopbackListener("balancer", this::serve);
  }

  String url() {
    return "http://127.0.0.1:" + listener.port();
  }

  private List<Integer> order() {
    List<Integer> order = new ArrayList<>(ports);
    synchronized (random) {
      Collections.shuffle(order, random);
    }
    return order;
  }

  private void serve(Socket client) {
    try (client) {
      for (int port : order()) {
        try (Socket other = new Socket()) {
          other.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
          Thread up = Thread.ofVirtual().start(() -> copy(client, other));
          copy(other, client);
          up.join();
          return;
        } catch (IOException e) {
          // The next server.
        }
      }
    } catch (IOException e) {
      // The client disconnected.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void copy(Socket from, Socket to) {
    byte[] buffer = new byte[16 * 1024];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        out.write(buffer, 0, read);
      }
    } catch (IOException e) {
      // One side disconnected.
    }
    LoopbackListener.close(from);
    LoopbackListener.close(to);
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
