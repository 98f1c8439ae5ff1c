package dev.isola.app.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A network between servers and PostgreSQL that is slow, narrow or unreliable. Bytes arrive in
 * order; each piece is delayed in each direction.
 */
final class DatabaseProxy implements AutoCloseable {
  /** What PostgreSQL sends when a transaction is durable. */
  private static final byte[] COMMITTED = "COMMIT\0".getBytes(StandardCharsets.US_ASCII);

  /** The state of the network. */
  record Network(
      Duration least, Duration most, int bytesPerSecond, int lostCommitPercent, boolean isCut) {
    static final Network GOOD = new Network(Duration.ZERO, Duration.ZERO, 0, 0, false);
    static final Network CUT = new Network(Duration.ZERO, Duration.ZERO, 0, 0, true);

    static Network slow(int leastMillis, int mostMillis) {
      return new Network(
          Duration.ofMillis(leastMillis), Duration.ofMillis(mostMillis), 0, 0, false);
    }

    static Network narrow(int bytesPerSecond) {
      return new Network(Duration.ZERO, Duration.ZERO, bytesPerSecond, 0, false);
    }

    static Network losingCommits(int percent) {
      return new Network(Duration.ZERO, Duration.ZERO, 0, percent, false);
    }
  }

  private final LoopbackListener listener;
  private final int database;
  private final Random random;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private volatile Network network = Network.GOOD;
  final AtomicInteger lostCommits = new AtomicInteger();

  DatabaseProxy(int database, long seed) throws IOException {
    this.database = database;
    random = new Random(seed);
    listener = new LoopbackListener("database-proxy", this::serve);
  }

  int port() {
    return listener.port();
  }

  /** Changes the network. One that is cut breaks all connections and accepts none. */
  void set(Network next) {
    network = next;
    if (next.isCut()) {
      open.forEach(LoopbackListener::close);
    }
  }

  private void serve(Socket client) {
    try (client;
        Socket other = new Socket()) {
      open.add(client);
      open.add(other);
      if (network.isCut()) {
        return;
      }
      other.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), database), 5000);
      client.setTcpNoDelay(true);
      other.setTcpNoDelay(true);
      Thread up = Thread.ofVirtual().start(() -> copy(client, other, false));
      copy(other, client, true);
      up.join();
      open.remove(client);
      open.remove(other);
    } catch (IOException e) {
      // One side disconnected.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A piece of data and the time at which it arrives; no data is the end. */
  @SuppressWarnings("ArrayRecordComponent")
  private record Piece(byte[] data, long arrival) {}

  private void copy(Socket from, Socket to, boolean fromDatabase) {
    BlockingQueue<Piece> pieces = new LinkedBlockingQueue<>();
    Thread writer = Thread.ofVirtual().start(() -> write(pieces, to));
    byte[] buffer = new byte[4 * 1024];
    try {
      InputStream in = from.getInputStream();
      long last = System.nanoTime();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        byte[] data = Arrays.copyOf(buffer, read);
        if (fromDatabase && losesCommit(data)) {
          break;
        }
        last = Math.max(last, System.nanoTime()) + transmission(read);
        pieces.add(new Piece(data, last + delay()));
      }
    } catch (IOException e) {
      // One side disconnected.
    }
    pieces.add(new Piece(new byte[0], System.nanoTime()));
    try {
      writer.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    LoopbackListener.close(from);
    LoopbackListener.close(to);
  }

  private static void write(BlockingQueue<Piece> pieces, Socket to) {
    try {
      OutputStream out = to.getOutputStream();
      for (Piece piece = pieces.take(); piece.data.length > 0; piece = pieces.take()) {
        TimeUnit.NANOSECONDS.sleep(piece.arrival - System.nanoTime());
        out.write(piece.data);
      }
    } catch (IOException e) {
      // The other side disconnected.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private long transmission(int bytes) {
    int rate = network.bytesPerSecond();
    return rate == 0 ? 0 : TimeUnit.SECONDS.toNanos(bytes) / rate;
  }

  private long delay() {
    Network now = network;
    long range = now.most().minus(now.least()).toMillis();
    synchronized (random) {
      return TimeUnit.MILLISECONDS.toNanos(
          now.least().toMillis() + (range == 0 ? 0 : random.nextInt((int) range)));
    }
  }

  /** Returns whether these bytes confirm a transaction and are to be lost with the connection. */
  private boolean losesCommit(byte[] data) {
    int percent = network.lostCommitPercent();
    if (percent == 0 || !contains(data, COMMITTED)) {
      return false;
    }
    synchronized (random) {
      if (random.nextInt(100) >= percent) {
        return false;
      }
    }
    lostCommits.incrementAndGet();
    return true;
  }

  private static boolean contains(byte[] data, byte[] part) {
    for (int from = 0; from + part.length <= data.length; from++) {
      if (Arrays.equals(data, from, from + part.length, part, 0, part.length)) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void close() throws IOException {
    listener.close();
    open.forEach(LoopbackListener::close);
  }
}
