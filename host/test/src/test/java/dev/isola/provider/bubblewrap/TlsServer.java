package dev.isola.provider.bubblewrap;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.isola.spi.capability.EgressAccess.OutboundConnection;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A web server whose certificate is its own authority, and a relay to it. */
final class TlsServer implements AutoCloseable {
  private static final String PASSWORD = "password";

  private final HttpsServer server;
  private final String authority;

  private TlsServer(HttpsServer server, String authority) {
    this.server = server;
    this.authority = authority;
  }

  static TlsServer start(Path folder, String host) throws Exception {
    Path store = folder.resolve("store.p12");
    makeKey(store, host);
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    HttpsServer server =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(context(keys)));
    server.createContext(
        "/",
        exchange -> {
          boolean found = exchange.getRequestURI().getPath().equals("/");
          byte[] body = "secure\n".getBytes(UTF_8);
          exchange.sendResponseHeaders(found ? 200 : 404, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    return new TlsServer(server, pem(keys.getCertificate("host")));
  }

  private static SSLContext context(KeyStore keys) throws GeneralSecurityException {
    KeyManagerFactory managers = KeyManagerFactory.getInstance("PKIX");
    managers.init(keys, PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context;
  }

  private static String pem(Certificate certificate) throws GeneralSecurityException {
    return "-----BEGIN CERTIFICATE-----\n"
        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(certificate.getEncoded())
        + "\n-----END CERTIFICATE-----\n";
  }

  private static void makeKey(Path store, String host) throws IOException, InterruptedException {
    List<String> words =
        List.of(
            System.getProperty("java.home") + "/bin/keytool",
            "-genkeypair",
            "-alias",
            "host",
            "-keyalg",
            "EC",
            "-dname",
            "CN=" + host,
            "-ext",
            "san=dns:" + host,
            "-ext",
            "bc:c",
            "-keystore",
            store.toString(),
            "-storepass",
            PASSWORD);
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(words + " failed: " + output);
    }
  }

  String authority() {
    return authority;
  }

  /** Connects a guest process to the server, whatever host it wanted. */
  void serve(OutboundConnection connection) {
    try (SocketChannel socket = SocketChannel.open(server.getAddress())) {
      Thread upload =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      copy(connection, socket);
                      socket.shutdownOutput();
                    } catch (IOException e) {
                      // The server has closed the connection, which the other direction reports.
                    }
                  });
      copy(socket, connection);
      connection.shutdownOutput();
      upload.join();
    } catch (IOException e) {
      // A client that does not trust the certificate closes the connection.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void copy(ReadableByteChannel from, WritableByteChannel to) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(16_384);
    while (from.read(buffer) >= 0) {
      buffer.flip();
      while (buffer.hasRemaining()) {
        to.write(buffer);
      }
      buffer.clear();
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
