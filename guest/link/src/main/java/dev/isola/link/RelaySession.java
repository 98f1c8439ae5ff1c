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

/** One run of the relay process: its requests and reports, as PROTOCOL.md describes them. */
final class RelaySession implements AutoCloseable {
  private static final int MAX_CONNECTIONS = 8192;
  private static final int MAX_LISTENERS = 4096;
  private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(5);

  private final Process process;
  private final OutputStream requests;
  private final ReentrantLock lock = new ReentrantLock();
  private final BitSet listenerIds = new BitSet(MAX_LISTENERS);
  private final BitSet connectionIds = new BitSet(MAX_CONNECTIONS);

  /** The replies to LISTEN and UNLISTEN that are awaited; the value is an error number. */
  private final Map<Integer, CompletableFuture<Integer>> replies = new ConcurrentHashMap<>();

  private final Map<Integer, HandedConnection> connections = new ConcurrentHashMap<>();
  private volatile boolean ended;

  private RelaySession(Process process) {
    this.process = process;
    this.requests = process.getOutputStream();
  }

  static RelaySession start(Path program) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(program.toString(), "--relay")
            .directory(Path.of("/").toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().clear();
    RelaySession session = new RelaySession(builder.start());
    Thread.ofPlatform().daemon().name("isola-relay-reports").start(session::readReports);
    return session;
  }

  boolean isAlive() {
    return !ended && process.isAlive();
  }

  long pid() {
    return process.pid();
  }

  /** Makes the process listen on a socket that it creates. Returns the number of the listener. */
  int listen(Path path) throws IOException {
    if (path.toString().indexOf('\n') >= 0) {
      throw new IOException("the path of the socket contains a line break");
    }
    int id = allocate(listenerIds, MAX_LISTENERS);
    int error = call(id, "LISTEN " + id + " " + path);
    if (error != 0) {
      release(listenerIds, id);
      throw new IOException("the relay process cannot listen on " + path + ": error " + error);
    }
    return id;
  }

  /** Removes a listener; its connections are reset when this returns. */
  void unlisten(int listener) throws IOException {
    int unused = call(listener, "UNLISTEN " + listener);
    assert unused == 0;
    release(listenerIds, listener);
  }

  /** Starts to connect to another host. */
  HandedConnection open(int listener, byte[] token, InetSocketAddress to, Duration timeout)
      throws IOException {
    int id = allocate(connectionIds, MAX_CONNECTIONS);
    HandedConnection connection = new HandedConnection(this, id);
    connections.put(id, connection);
    send(
        "OPEN %d %d %s %s %d %d"
            .formatted(
                id,
                listener,
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

  private int call(int listener, String request) throws IOException {
    CompletableFuture<Integer> reply = new CompletableFuture<>();
    replies.put(listener, reply);
    try {
      send(request);
      if (ended) {
        throw new IOException("the relay process has ended");
      }
      return reply.get(REPLY_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("the relay process does not answer", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      replies.remove(listener, reply);
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

  private int allocate(BitSet ids, int most) throws IOException {
    lock.lock();
    try {
      int id = ids.nextClearBit(0);
      if (id >= most) {
        throw new IOException("the relay process has " + most + " connections, which is its limit");
      }
      ids.set(id);
      return id;
    } finally {
      lock.unlock();
    }
  }

  private void release(BitSet ids, int id) {
    lock.lock();
    try {
      ids.clear(id);
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
      replies.values().forEach(reply -> reply.completeExceptionally(new IOException("ended")));
    }
  }

  private void report(String[] words) {
    int id = Integer.parseInt(words[1]);
    switch (words[0]) {
      case "LISTENING" -> complete(id, Integer.parseInt(words[2]));
      case "UNLISTENED" -> complete(id, 0);
      case "CONNECTED" -> connection(id, HandedConnection::connected);
      case "BYTES" -> connection(id, one -> one.counted(number(words[2]), number(words[3])));
      case "ENDED" -> {
        connection(id, one -> one.counted(number(words[2]), number(words[3])));
        connection(id, one -> one.ended(Integer.parseInt(words[4])));
        connections.remove(id);
        release(connectionIds, id); // last: a connection that is over is not reset
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

  private void complete(int listener, int error) {
    CompletableFuture<Integer> reply = replies.get(listener);
    if (reply != null) {
      reply.complete(error);
    }
  }

  /** Ends the process. */
  @Override
  public void close() {
    try {
      requests.close();
    } catch (IOException e) {
      // It has ended.
    }
    try {
      if (!process.waitFor(REPLY_TIMEOUT)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
