package dev.isola.egress.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A server whose behaviour a test determines byte by byte. */
final class RawServer implements AutoCloseable {
  /** Serves a connection. */
  interface Script {
    void run(Socket client) throws Exception;
  }

  private final ServerSocket listener;
  private final BlockingQueue<String> requests = new LinkedBlockingQueue<>();

  RawServer(Script script) {
    try {
      listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.startVirtualThread(() -> accept(script));
  }

  /** Responds to every request with the same bytes, until the client ends the connection. */
  static RawServer responding(String response) {
    RawServer[] self = new RawServer[1];
    RawServer server =
        new RawServer(
            client -> {
              while (self[0] == null) {
                Thread.onSpinWait();
              }
              String request = readRequest(client.getInputStream());
              while (!request.isEmpty()) {
                self[0].requests.add(request);
                client.getOutputStream().write(response.getBytes(ISO_8859_1));
                request = readRequest(client.getInputStream());
              }
            });
    self[0] = server;
    return server;
  }

  /**
   * Reads a head and a body with a length or chunks, as they are. Empty if the input ends before.
   */
  static String readRequest(InputStream in) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    while (!all.toString(ISO_8859_1).endsWith("\r\n\r\n")) {
      int next = in.read();
      if (next < 0) {
        return "";
      }
      all.write(next);
    }
    String head = all.toString(ISO_8859_1).toLowerCase(Locale.ROOT);
    if (head.contains("transfer-encoding: chunked")) {
      while (!all.toString(ISO_8859_1).endsWith("0\r\n\r\n")) {
        int next = in.read();
        if (next < 0) {
          return "";
        }
        all.write(next);
      }
    } else if (head.contains("content-length: ")) {
      String rest = head.substring(head.indexOf("content-length: ") + 16);
      all.write(in.readNBytes(Integer.parseInt(rest.substring(0, rest.indexOf('\r')))));
    }
    return all.toString(ISO_8859_1);
  }

  private void accept(Script script) {
    while (true) {
      try {
        Socket client = listener.accept();
        Thread.startVirtualThread(() -> serve(script, client));
      } catch (SocketException e) {
        return;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static void serve(Script script, Socket client) {
    try (client) {
      script.run(client);
    } catch (Exception e) {
      // The test sees what is missing.
    }
  }

  int port() {
    return listener.getLocalPort();
  }

  void add(String request) {
    requests.add(request);
  }

  /** Returns the next request that arrived. */
  String request() throws InterruptedException {
    String request = requests.poll(5, TimeUnit.SECONDS);
    if (request == null) {
      throw new AssertionError("no request arrived");
    }
    return request;
  }

  boolean hasRequests() {
    return !requests.isEmpty();
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
