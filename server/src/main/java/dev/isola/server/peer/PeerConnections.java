package dev.isola.server.peer;

import dev.isola.codec.http.ChannelTransport;
import dev.isola.codec.http.HttpTransport;
import dev.isola.codec.http.TlsTransport;
import dev.isola.engine.api.SandboxHome;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.nio.channels.SocketChannel;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** The connections to other servers. Those without TLS are reused. */
final class PeerConnections implements AutoCloseable {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);

  /** Shorter than the time after which a server closes an idle connection. */
  private static final Duration MAX_IDLE = Duration.ofSeconds(10);

  private static final int MAX_IDLE_PER_SERVER = 64;

  private record Idle(PeerConnection connection, long sinceNanos) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<URI, Deque<Idle>> idle = new HashMap<>();
  private final Set<PeerConnection> all = ConcurrentHashMap.newKeySet();
  private final Set<PeerConnection> streams = ConcurrentHashMap.newKeySet();
  private volatile boolean streamsEnded;

  /** Returns an idle connection to a server, or opens one. */
  PeerConnection connect(SandboxHome.At home) throws IOException {
    for (Optional<PeerConnection> one = takeIdle(home.url());
        one.isPresent();
        one = takeIdle(home.url())) {
      if (!one.get().isStale()) {
        return one.get();
      }
      one.get().close();
    }
    return open(home);
  }

  private Optional<PeerConnection> takeIdle(URI url) {
    List<PeerConnection> tooOld = new ArrayList<>();
    try {
      lock.lock();
      try {
        Deque<Idle> waiting = idle.getOrDefault(url, new ArrayDeque<>());
        long oldest = System.nanoTime() - MAX_IDLE.toNanos();
        for (Idle one = waiting.pollLast(); one != null; one = waiting.pollLast()) {
          if (one.sinceNanos() - oldest > 0) {
            return Optional.of(one.connection());
          }
          tooOld.add(one.connection());
        }
        return Optional.empty();
      } finally {
        lock.unlock();
      }
    } finally {
      tooOld.forEach(PeerConnection::close);
    }
  }

  /** Keeps a connection whose response was read completely for the next request. */
  void release(PeerConnection connection) {
    streams.remove(connection);
    lock.lock();
    try {
      Deque<Idle> waiting = idle.computeIfAbsent(connection.url(), any -> new ArrayDeque<>());
      if (connection.isOpen() && waiting.size() < MAX_IDLE_PER_SERVER) {
        waiting.addLast(new Idle(connection, System.nanoTime()));
        return;
      }
    } finally {
      lock.unlock();
    }
    connection.close();
  }

  private PeerConnection open(SandboxHome.At home) throws IOException {
    URI url = home.url();
    boolean secure = "https".equals(url.getScheme());
    int port = url.getPort() >= 0 ? url.getPort() : secure ? 443 : 80;
    String host = url.getHost().replace("[", "").replace("]", "");
    InetSocketAddress address = new InetSocketAddress(host, port);
    if (address.isUnresolved()) {
      throw new IOException("the name " + host + " has no address");
    }
    HttpTransport transport = secure ? tls(host, address) : plain(address);
    PeerConnection connection = new PeerConnection(url, home.server(), transport, this::forget);
    all.add(connection);
    return connection;
  }

  private void forget(PeerConnection connection) {
    all.remove(connection);
    streams.remove(connection);
  }

  /** Records that a connection carries a stream of events, which has no end of its own. */
  void beginStream(PeerConnection connection) {
    streams.add(connection);
    if (streamsEnded) {
      connection.close();
    }
  }

  /** Closes the connections that carry streams of events, now and from now on. */
  void endStreams() {
    streamsEnded = true;
    List.copyOf(streams).forEach(PeerConnection::close);
  }

  private static HttpTransport plain(InetSocketAddress address) throws IOException {
    SocketChannel channel = SocketChannel.open();
    try {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.socket().connect(address, (int) CONNECT_TIMEOUT.toMillis());
      return new ChannelTransport(channel);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  private static HttpTransport tls(String host, InetSocketAddress address) throws IOException {
    Socket socket = new Socket();
    try {
      socket.setTcpNoDelay(true);
      socket.connect(address, (int) CONNECT_TIMEOUT.toMillis());
      SSLSocket secured =
          (SSLSocket)
              SSLContext.getDefault()
                  .getSocketFactory()
                  .createSocket(socket, host, address.getPort(), true);
      SSLParameters parameters = secured.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      secured.setSSLParameters(parameters);
      secured.setSoTimeout((int) CONNECT_TIMEOUT.toMillis());
      secured.startHandshake();
      secured.setSoTimeout(0);
      return new TlsTransport(secured);
    } catch (IOException e) {
      socket.close();
      throw e;
    } catch (NoSuchAlgorithmException e) {
      socket.close();
      throw new IOException("TLS is not available", e);
    }
  }

  /** Returns the names of the servers to which connections are open. */
  Set<String> servers() {
    return all.stream().map(PeerConnection::server).collect(Collectors.toSet());
  }

  /** Closes all connections to a server, whatever they are used for. */
  void closeAll(String server) {
    List.copyOf(all).stream()
        .filter(one -> one.server().equals(server))
        .forEach(PeerConnection::close);
  }

  @Override
  public void close() {
    List.copyOf(all).forEach(PeerConnection::close);
  }
}
