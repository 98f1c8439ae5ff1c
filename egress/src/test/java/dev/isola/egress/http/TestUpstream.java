package dev.isola.egress.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.codec.x509.CertificateWriter;
import dev.isola.codec.x509.CertificateWriter.SigningCertificate;
import dev.isola.codec.x509.CertificateWriter.Validity;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** A real server with HTTP/1.1 and HTTP/2 over TLS, which returns what it receives. */
final class TestUpstream implements AutoCloseable {
  private final Validity validity =
      new Validity(
          Instant.now().minus(Duration.ofDays(1)), Instant.now().plus(Duration.ofDays(365)));
  private final SigningCertificate authority = CertificateWriter.authority("Upstream CA", validity);
  private final Server server = new Server();
  private final ServerConnector connector;

  TestUpstream(boolean http2, String... hosts) throws Exception {
    SigningCertificate leaf = CertificateWriter.server("Test", List.of(hosts), authority, validity);
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setKeyEntry(
        "leaf",
        leaf.key(),
        new char[0],
        new Certificate[] {leaf.certificate(), authority.certificate()});
    SslContextFactory.Server tls = new SslContextFactory.Server();
    tls.setKeyStore(store);
    tls.setKeyStorePassword("");
    HttpConfiguration config = new HttpConfiguration();
    config.setRequestHeaderSize(128 * 1024);
    config.setResponseHeaderSize(128 * 1024);
    config.addCustomizer(new SecureRequestCustomizer(false));
    HttpConnectionFactory http1 = new HttpConnectionFactory(config);
    if (http2) {
      ALPNServerConnectionFactory alpn = new ALPNServerConnectionFactory();
      alpn.setDefaultProtocol(http1.getProtocol());
      connector =
          new ServerConnector(
              server,
              new SslConnectionFactory(tls, alpn.getProtocol()),
              alpn,
              new HTTP2ServerConnectionFactory(config),
              http1);
    } else {
      connector =
          new ServerConnector(server, new SslConnectionFactory(tls, http1.getProtocol()), http1);
    }
    connector.setHost("127.0.0.1");
    server.addConnector(connector);
    server.setHandler(new Echo());
    server.start();
  }

  int port() {
    return connector.getLocalPort();
  }

  X509Certificate certificate() {
    return authority.certificate();
  }

  @Override
  public void close() {
    try {
      server.stop();
    } catch (Exception e) {
      throw new IllegalStateException("the server does not stop", e);
    }
  }

  private static final class Echo extends Handler.Abstract {
    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
      String path = request.getHttpURI().getPath();
      if (path.equals("/size")) {
        int size = Integer.parseInt(request.getHttpURI().getQuery());
        response.write(true, ByteBuffer.wrap(new byte[size]), callback);
        return true;
      }
      if (path.equals("/count")) {
        long count = 0;
        byte[] piece = new byte[8192];
        try (InputStream in = Content.Source.asInputStream(request)) {
          for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
            count += n;
          }
        }
        response.write(true, ByteBuffer.wrap(Long.toString(count).getBytes(ISO_8859_1)), callback);
        return true;
      }
      byte[] body;
      try (InputStream in = Content.Source.asInputStream(request)) {
        body = in.readAllBytes();
      }
      if (path.startsWith("/ok/cut/")) {
        cut(request, Integer.parseInt(path.substring(8)), response, callback);
        return true;
      }
      if (path.startsWith("/ok/status/")) {
        response.setStatus(Integer.parseInt(path.substring(11)));
      }
      if (path.startsWith("/split/")) {
        split(body, Integer.parseInt(path.substring(7)), response, callback);
        return true;
      }
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      all.writeBytes(
          (request.getConnectionMetaData().getHttpVersion()
                  + " "
                  + request.getMethod()
                  + " "
                  + request.getHttpURI().getPathQuery()
                  + "\n")
              .getBytes(ISO_8859_1));
      for (HttpField field : request.getHeaders()) {
        all.writeBytes(
            (field.getLowerCaseName() + ": " + field.getValue() + "\n").getBytes(ISO_8859_1));
      }
      all.write('\n');
      all.writeBytes(body);
      byte[] content = all.toByteArray();
      String key = request.getHeaders().get("x-key");
      if (key != null) {
        response.getHeaders().put("x-echo", key);
        response.getHeaders().put("x-length", key.length());
        response.getHeaders().put("x-reversed", new StringBuilder(key).reverse().toString());
      }
      if (path.equals("/gzip")) {
        ByteArrayOutputStream zipped = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(zipped)) {
          gzip.write(content);
        }
        content = zipped.toByteArray();
        response.getHeaders().put("content-encoding", "gzip");
      }
      response.write(true, ByteBuffer.wrap(content), callback);
      return true;
    }

    /** Writes the beginning of a header as a header, byte by byte as a body, and as a trailer. */
    private static void cut(Request request, int length, Response response, Callback callback)
        throws Exception {
      String cut = request.getHeaders().get("x-key").substring(0, length);
      response.getHeaders().put("x-cut", cut);
      response.setTrailersSupplier(() -> HttpFields.build().put("x-trailer", cut));
      for (byte one : cut.getBytes(ISO_8859_1)) {
        Callback.Completable written = new Callback.Completable();
        response.write(false, ByteBuffer.wrap(new byte[] {one}), written);
        written.get();
      }
      response.write(true, ByteBuffer.allocate(0), callback);
    }

    /** Writes the body in two pieces. */
    private static void split(byte[] body, int at, Response response, Callback callback)
        throws Exception {
      Callback.Completable first = new Callback.Completable();
      response.write(false, ByteBuffer.wrap(body, 0, at), first);
      first.get();
      response.write(true, ByteBuffer.wrap(body, at, body.length - at), callback);
    }
  }
}
