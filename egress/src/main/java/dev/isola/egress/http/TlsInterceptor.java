package dev.isola.egress.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.isola.spi.capability.PortDialing;
import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIMatcher;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.StandardConstants;
import org.jspecify.annotations.Nullable;

/**
 * Opens TLS on both sides of one connection. The protocols that the client offers are offered to
 * the server, and the one that the server selects is selected for the client, so that both speak
 * the same.
 */
final class TlsInterceptor {
  static final String H2 = "h2";
  private static final String HTTP_1_1 = "http/1.1";
  private static final List<String> KNOWN = List.of(H2, HTTP_1_1);

  /** A name that fits into a certificate. Underscores occur in the names of real hosts. */
  private static final Pattern HOST_NAME =
      Pattern.compile(
          "(?i)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)([.][a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*");

  private static final Pattern ADDRESS =
      Pattern.compile("[0-9]{1,3}([.][0-9]{1,3}){3}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");
  private static final int MAX_HOST_NAME = 253;

  private final String host;
  private final int port;
  private final SandboxAuthority authority;
  private final UpstreamTrust trust;
  private final ProxiedConnection.Upstream server;
  private List<String> offered = List.of(HTTP_1_1);
  private boolean foreignName;

  TlsInterceptor(
      String host,
      int port,
      SandboxAuthority authority,
      UpstreamTrust trust,
      ProxiedConnection.Upstream.Opener dialer) {
    this.host = host;
    this.port = port;
    this.authority = authority;
    this.trust = trust;
    server = new ProxiedConnection.Upstream(() -> connect(dialer.open()));
  }

  /** Returns whether a certificate can be issued for a host. */
  static boolean isHost(String host) {
    return host.length() <= MAX_HOST_NAME
        && (ADDRESS.matcher(host).matches() || HOST_NAME.matcher(host).matches());
  }

  /** Returns the connection to the server, which is opened no later than now. */
  ProxiedConnection.Upstream server() {
    return server;
  }

  /** Returns whether the client asked for another host, by which the handshake failed. */
  boolean foreignName() {
    return foreignName;
  }

  /** Performs the handshake with the client, and with the server if the client uses ALPN. */
  TlsConnection accept(PortDialing.Connection client) throws IOException {
    TlsConnection connection = new TlsConnection(client, engine());
    connection.engine().setHandshakeApplicationProtocolSelector((_, names) -> select(names));
    connection.handshake();
    return connection;
  }

  /** Performs the handshake with the client only, by HTTP/1.1. */
  TlsConnection acceptAlone(PortDialing.Connection client) throws IOException {
    TlsConnection connection = new TlsConnection(client, engine());
    connection
        .engine()
        .setHandshakeApplicationProtocolSelector(
            (_, names) -> names.contains(HTTP_1_1) ? HTTP_1_1 : null);
    connection.handshake();
    return connection;
  }

  private SSLEngine engine() {
    SSLEngine engine = authority.serverContext(host).createSSLEngine();
    engine.setUseClientMode(false);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setSNIMatchers(
        List.of(
            new SNIMatcher(StandardConstants.SNI_HOST_NAME) {
              @Override
              public boolean matches(SNIServerName name) {
                boolean same = new String(name.getEncoded(), ISO_8859_1).equalsIgnoreCase(host);
                foreignName |= !same;
                return same;
              }
            }));
    engine.setSSLParameters(parameters);
    return engine;
  }

  private @Nullable String select(List<String> names) {
    offered = names.stream().filter(KNOWN::contains).toList();
    if (offered.isEmpty()) {
      return null; // Ends the handshake: the client does not speak HTTP.
    }
    try {
      String selected = ((TlsConnection) server.get()).engine().getApplicationProtocol();
      if (selected != null && !selected.isEmpty()) {
        return selected;
      }
    } catch (IOException e) {
      // The client is told by a response, for which HTTP/1.1 will do.
    }
    return offered.contains(HTTP_1_1) ? HTTP_1_1 : null;
  }

  private TlsConnection connect(PortDialing.Connection plain) throws IOException {
    SSLEngine engine = trust.context().createSSLEngine(host, port);
    engine.setUseClientMode(true);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    parameters.setApplicationProtocols(offered.toArray(String[]::new));
    if (!ADDRESS.matcher(host).matches()) {
      parameters.setServerNames(List.of(new SNIHostName(host)));
    }
    engine.setSSLParameters(parameters);
    TlsConnection connection = new TlsConnection(plain, engine);
    connection.handshake();
    return connection;
  }
}
