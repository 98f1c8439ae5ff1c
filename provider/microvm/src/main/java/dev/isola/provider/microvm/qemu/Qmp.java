package dev.isola.provider.microvm.qemu;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.codec.time.Deadline;
import dev.isola.link.AgentAbsentException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/**
 * A connection to the control socket of QEMU (QMP). QEMU talks to an untrusted guest, so that every
 * answer is bounded and has a deadline.
 */
final class Qmp implements AutoCloseable {
  private static final int MAX_LINE = 1 << 20;
  private static final String SET_CAPABILITIES = "migrate-set-capabilities";
  private static final Duration LISTEN_TIMEOUT = Duration.ofSeconds(2);
  private static final Duration POLL_INTERVAL = Duration.ofMillis(2);

  private final SocketChannel socket;
  private final java.io.InputStream in;

  /** The commands that QEMU has not answered, in their order. */
  private final Deque<String> unanswered = new ArrayDeque<>();

  private boolean resumed;

  private Qmp(SocketChannel socket) {
    this.socket = socket;
    this.in = new java.io.BufferedInputStream(Channels.newInputStream(socket));
  }

  /** Connects to a control socket. QEMU may answer later, together with the first command. */
  static Qmp connect(Path path) throws IOException {
    Qmp qmp = new Qmp(open(path));
    try {
      qmp.send("qmp_capabilities", Map.of());
      return qmp;
    } catch (IOException e) {
      qmp.close();
      throw e;
    }
  }

  /** QEMU creates the socket a moment before it listens. */
  private static SocketChannel open(Path path) throws IOException {
    Deadline deadline = Deadline.in(LISTEN_TIMEOUT);
    while (true) {
      SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
      try {
        socket.connect(UnixDomainSocketAddress.of(path));
        return socket;
      } catch (IOException e) {
        socket.close();
        if (!(e instanceof ConnectException) || !deadline.pause(POLL_INTERVAL)) {
          throw new AgentAbsentException("QEMU does not listen on " + path, e);
        }
      }
    }
  }

  private interface Call {
    Map<String, Object> run() throws IOException;
  }

  /** Executes a command and returns its result. */
  Map<String, Object> execute(String command, Map<String, Object> arguments, Duration timeout)
      throws IOException {
    return withDeadline(
        timeout,
        () -> {
          send(command, arguments);
          return answer();
        });
  }

  private void send(String command, Map<String, Object> arguments) throws IOException {
    Map<String, Object> request =
        arguments.isEmpty()
            ? Json.object("execute", command)
            : Json.object("execute", command, "arguments", arguments);
    ByteBuffer bytes = ByteBuffer.wrap((Json.text(request) + "\n").getBytes(UTF_8));
    while (bytes.hasRemaining()) {
      socket.write(bytes);
    }
    unanswered.add(command);
  }

  /** Reads up to the result of the last command, and returns that. */
  private Map<String, Object> answer() throws IOException {
    while (true) {
      Map<String, Object> message = readMessage();
      if (message.get("error") instanceof Map<?, ?> error) {
        throw new IOException("QEMU refused " + unanswered.poll() + ": " + error.get("desc"));
      }
      if (message.containsKey("return") && unanswered.poll() != null && unanswered.isEmpty()) {
        return message.get("return") instanceof Map<?, ?> map ? checked(map) : Map.of();
      }
    }
  }

  @SuppressWarnings("unchecked") // JSON objects have text keys
  private static Map<String, Object> checked(Map<?, ?> map) {
    return (Map<String, Object>) map;
  }

  private Map<String, Object> withDeadline(Duration timeout, Call call) throws IOException {
    Thread watchdog =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    Thread.sleep(timeout);
                    close();
                  } catch (InterruptedException inTime) {
                    // QEMU answered.
                  }
                });
    try {
      return call.run();
    } catch (java.nio.channels.ClosedChannelException e) {
      throw new IOException("QEMU did not answer within " + timeout.toMillis() + " ms", e);
    } finally {
      watchdog.interrupt();
    }
  }

  private Map<String, Object> readMessage() throws IOException {
    java.io.ByteArrayOutputStream line = new java.io.ByteArrayOutputStream();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new IOException("QEMU closed its control socket");
      }
      if (line.size() == MAX_LINE) {
        throw new IOException("QEMU sent an answer of more than " + MAX_LINE + " bytes");
      }
      line.write(next);
    }
    try {
      Map<String, Object> message = Json.parseObject(line.toByteArray());
      resumed |= "RESUME".equals(message.get("event"));
      return message;
    } catch (MalformedJson e) {
      throw new IOException("QEMU sent an answer that is not JSON", e);
    }
  }

  /** Sends the state of the machine to a socket and waits until the machine has stopped. */
  void migrate(Path target, boolean withMemory, Duration timeout) throws IOException {
    execute(SET_CAPABILITIES, memoryIncluded(withMemory), timeout);
    execute(
        "migrate-set-parameters",
        Map.of("max-bandwidth", 8L << 30, "downtime-limit", 60_000),
        timeout);
    execute("migrate", Map.of("uri", "unix:" + target), timeout);
    Deadline deadline = Deadline.in(timeout);
    while (true) {
      Map<String, Object> progress = execute("query-migrate", Map.of(), timeout);
      String status = String.valueOf(progress.get("status"));
      if (status.equals("completed")) {
        return;
      }
      if (status.equals("failed") || status.equals("cancelled")) {
        throw new IOException(
            "QEMU could not save the machine: " + progress.getOrDefault("error-desc", status));
      }
      if (!deadline.pause(POLL_INTERVAL)) {
        throw new IOException("QEMU did not save the machine within " + timeout.toMillis() + " ms");
      }
    }
  }

  private static Map<String, Object> memoryIncluded(boolean included) {
    return Map.of(
        "capabilities", List.of(Json.object("capability", "x-ignore-shared", "state", !included)));
  }

  /**
   * Continues a machine from the state in a file that QEMU has inherited; returns when it runs.
   * QEMU refuses to connect the ports of a machine that does not.
   */
  void load(int descriptor, boolean withMemory, Duration timeout) throws IOException {
    withDeadline(
        timeout,
        () -> {
          send(SET_CAPABILITIES, memoryIncluded(withMemory));
          send("migrate-incoming", Map.of("uri", "fd:" + descriptor));
          Map<String, Object> result = answer();
          while (!resumed) {
            readMessage();
          }
          return result;
        });
  }

  /** Continues a machine that is stopped, and ends a save that is not finished. */
  void resume(Duration timeout) throws IOException {
    execute("migrate_cancel", Map.of(), timeout);
    String status = String.valueOf(execute("query-status", Map.of(), timeout).get("status"));
    if (!status.equals("running")) {
      execute("cont", Map.of(), timeout);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException ignored) {
      // Nothing else can be done.
    }
  }
}
