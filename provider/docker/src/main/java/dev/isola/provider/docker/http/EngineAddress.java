package dev.isola.provider.docker.http;

import dev.isola.codec.http.ChannelTransport;
import dev.isola.codec.http.HttpTransport;
import dev.isola.codec.http.TlsTransport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** The address of an engine. */
public sealed interface EngineAddress {
  /**
   * Opens a new connection. Blocks until it is established; the caller enforces the timeout.
   *
   * @param opened receives what to close in order to abort the attempt
   */
  HttpTransport connect(Consumer<AutoCloseable> opened) throws IOException;

  /** Tells whether the engine can access folders of this host. */
  boolean local();

  /** A unix socket. */
  record Unix(Path path) implements EngineAddress {
    @Override
    public HttpTransport connect(Consumer<AutoCloseable> opened) throws IOException {
      SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
      opened.accept(channel);
      try {
        channel.connect(UnixDomainSocketAddress.of(path));
        return new ChannelTransport(channel);
      } catch (IOException | RuntimeException e) {
        channel.close();
        throw e;
      }
    }

    @Override
    public boolean local() {
      return true;
    }

    @Override
    public String toString() {
      return "unix://" + path;
    }
  }

  /**
   * A TCP port, possibly of another host.
   *
   * @param tls empty for an unencrypted and unauthenticated connection
   */
  record Tcp(String host, int port, Optional<SSLContext> tls) implements EngineAddress {
    @Override
    public HttpTransport connect(Consumer<AutoCloseable> opened) throws IOException {
      SocketChannel channel = SocketChannel.open();
      opened.accept(channel);
      try {
        channel.connect(new InetSocketAddress(host, port));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        if (tls.isEmpty()) {
          return new ChannelTransport(channel);
        }
        SSLSocket socket =
            (SSLSocket)
                tls.get().getSocketFactory().createSocket(channel.socket(), host, port, true);
        opened.accept(socket);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return new TlsTransport(socket);
      } catch (UnresolvedAddressException e) {
        channel.close();
        throw new IOException("no such host: " + host, e);
      } catch (IOException | RuntimeException e) {
        channel.close();
        throw e;
      }
    }

    @Override
    public boolean local() {
      return false;
    }

    @Override
    public String toString() {
      return "tcp://" + host + ":" + port + (tls.isPresent() ? " (tls)" : "");
    }
  }
}
