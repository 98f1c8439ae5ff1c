package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The process of the host that copies the bytes of one sandbox's connections to other hosts, so
 * that they do not pass through the server: the agent's program in another mode. PROTOCOL.md
 * describes its requests and reports. It ends with the server.
 */
final class RelayProcess implements AutoCloseable {
  private static final int MAX_CONNECTIONS = 1024;
  private static final Duration START_TIMEOUT = Duration.ofSeconds(5);

  private final Process process;
  private final OutputStream requests;
  private final ReentrantLock lock = new ReentrantLock();
  private final BitSet connectionIds = new BitSet(MAX_CONNECTIONS);
  private final CompletableFuture<Boolean> listening = new CompletableFuture<>();
  private final Map<Integer, HandedConnection> connections = new ConcurrentHashMap<>();
  private long limit;
  private volatile boolean ended;

  private RelayProcess(Process process) {
    this.process = process;
    this.requests = process.getOutputStream();
  }

  /**
   * Starts a process that listens for connections of the agent on a socket, which it creates in the
   * folder.
   */
  static RelayProcess start(Path program, Path folder, String socket) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(program.toString(), "--relay", socket)
            .directory(folder.toFile()) // the path of a socket may not be long
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().clear();
    RelayProcess relay = new RelayProcess(builder.start());
    Thread.ofPlatform().daemon().name("isola-relay-reports").start(relay::readReports);
    boolean started = false;
    try {
      started = relay.listening.get(START_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("the relay process does not answer", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      if (!started) {
        relay.close();
      }
    }
    if (!started) {
      throw new IOException("the relay process cannot listen on " + socket);
    }
    return relay;
  }

  boolean isAlive() {
    return !ended && process.isAlive();
  }

  /** Starts to connect to another host. */
  HandedConnection open(byte[] token, InetSocketAddress to, Duration timeout) throws IOException {
    int id = allocate();
    HandedConnection connection = new HandedConnection(this, id);
    connections.put(id, connection);
    send(
        "OPEN %d %s %s %d %d"
            .formatted(
                id,
                HexFormat.of().formatHex(token),
                to.getAddress().getHostAddress().replaceFirst("%.*", ""),
                to.getPort(),
                timeout.toMillis()));
    if (ended) {
      connection.lost();
    }
    return connection;
  }

  /** Resets a connection; its end is reported. */
  void reset(int connection) {
    try {
      send("CLOSE " + connection);
    } catch (IOException e) {
      // The process is gone, and so is the connection.
    }
  }

  /** Limits how many bytes pass in a second, in each direction. */
  void limit(long bytesPerSecond) {
    lock.lock();
    try {
      if (bytesPerSecond != limit) {
        limit = bytesPerSecond;
        send("LIMIT " + bytesPerSecond);
      }
    } catch (IOException e) {
      // The process is gone, and so are its connections.
    } finally {
      lock.unlock();
    }
  }

  private void send(String line) throws IOException {
    lock.lock();
    try {
      requests.write((line + "\n").getBytes(UTF_8));
      requests.flush();
    } finally {
      lock.unlock();
    }
  }

  private int allocate() throws IOException {
    lock.lock();
    try {
      int id = connectionIds.nextClearBit(0);
      if (id >= MAX_CONNECTIONS) {
        throw new IOException("the relay process has no room for another connection");
      }
      connectionIds.set(id);
      return id;
    } finally {
      lock.unlock();
    }
  }

  private void release(int id) {
    lock.lock();
    try {
      connectionIds.clear(id);
    } finally {
      lock.unlock();
    }
  }

  private void readReports() {
    try (BufferedReader reader = process.inputReader(UTF_8)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        report(line.split(" "));
      }
    } catch (IOException e) {
      // The process was ended while it wrote.
    } finally {
      ended = true;
      process.destroyForcibly(); // if it ended its output only
      connections.values().forEach(HandedConnection::lost);
      listening.complete(false);
    }
  }

  private void report(String[] words) {
    int id = words.length > 1 ? Integer.parseInt(words[1]) : 0;
    switch (words[0]) {
      case "LISTENING" -> listening.complete(true);
      case "CONNECTED" -> connection(id, HandedConnection::connected);
      case "BYTES" -> connection(id, one -> one.counted(number(words[2]), number(words[3])));
      case "ENDED" -> {
        connection(id, one -> one.counted(number(words[2]), number(words[3])));
        connection(id, one -> one.ended(Integer.parseInt(words[4])));
        connections.remove(id);
        release(id); // last: a connection that is over is not reset
      }
      default -> {} // STARTED
    }
  }

  private static long number(String word) {
    return Long.parseLong(word);
  }

  private void connection(int id, Consumer<HandedConnection> change) {
    @Nullable HandedConnection connection = connections.get(id);
    if (connection != null) {
      change.accept(connection);
    }
  }

  /** Ends the process, which resets its connections, also if the sandbox keeps it from reading. */
  @Override
  public void close() {
    process.destroyForcibly();
    try {
      int _ = process.waitFor();
      requests.close();
    } catch (IOException e) {
      // What was not written is of no interest to a process that has ended.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
