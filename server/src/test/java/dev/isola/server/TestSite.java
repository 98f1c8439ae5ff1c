package dev.isola.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A web server that records request heads and lets the test handle the rest. */
public final class TestSite implements AutoCloseable {
  /** Handles a connection after its request head has been read. */
  public interface ConnectionHandler {
    void serve(String head, InputStream in, OutputStream out) throws Exception;
  }

  private final ServerSocket server;
  private final List<String> heads = new CopyOnWriteArrayList<>();
  private volatile ConnectionHandler conduct = (head, in, out) -> {};

  public TestSite() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  public int port() {
    return server.getLocalPort();
  }

  /** Returns the request heads received so far. */
  public List<String> heads() {
    return heads;
  }

  public String lastHead() {
    return heads.getLast();
  }

  public void respondWith(String text) {
    handleWith((head, in, out) -> out.write(text.getBytes(ISO_8859_1)));
  }

  public void handleWith(ConnectionHandler next) {
    heads.clear();
    conduct = next;
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException e) {
      // closed
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      ByteArrayOutputStream head = new ByteArrayOutputStream();
      while (!head.toString(ISO_8859_1).endsWith("\r\n\r\n")) {
        int next = in.read();
        if (next < 0) {
          return;
        }
        head.write(next);
      }
      heads.add(head.toString(ISO_8859_1));
      conduct.serve(head.toString(ISO_8859_1), in, socket.getOutputStream());
    } catch (Exception e) {
      // The peer disconnected.
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
