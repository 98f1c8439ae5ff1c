package dev.isola.provider.microvm.firecracker;

import dev.isola.codec.http.ChannelTransport;
import dev.isola.codec.http.HttpConnection;
import dev.isola.codec.http.HttpRequest;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.codec.time.Deadline;
import java.io.IOException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * The API of a Firecracker process, on its unix socket. Firecracker executes an untrusted guest, so
 * every answer is bounded and has a deadline. Each call opens a connection of its own.
 */
final class FirecrackerApi {
  /** The state of a process. */
  enum State {
    NOT_STARTED("Not started"),
    RUNNING("Running"),
    PAUSED("Paused");

    private final String wireName;

    State(String wireName) {
      this.wireName = wireName;
    }

    private static State of(String text) throws IOException {
      for (State one : values()) {
        if (one.wireName.equals(text)) {
          return one;
        }
      }
      throw new IOException("Firecracker reports an unknown state: " + printable(text));
    }
  }

  /**
   * A disk.
   *
   * @param id its name in the API; disks appear in the guest in the order in which they are added
   */
  record Drive(String id, String file, boolean readOnly) {}

  /**
   * A network interface.
   *
   * @param tap the device of the host
   */
  record NetworkInterface(String id, String tap, String mac) {}

  /**
   * The files of a snapshot.
   *
   * @param state the state of processors and devices
   * @param memory the memory of the guest, which is mapped privately when it is loaded
   */
  record Snapshot(String state, String memory) {}

  /** Every call but those that copy memory ends within this time. */
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);

  private static final Duration POLL_INTERVAL = Duration.ofMillis(2);
  private static final int MAX_ANSWER = 64 << 10;
  private static final int MAX_MESSAGE = 500;
  private static final int OK = 200;
  private static final int NO_CONTENT = 204;
  private static final int FIRST_ERROR = 400;

  private final Path socket;
  private final Duration callTimeout;

  FirecrackerApi(Path socket) {
    this(socket, CALL_TIMEOUT);
  }

  /**
   * @param callTimeout for every call that has no timeout of its own
   */
  FirecrackerApi(Path socket, Duration callTimeout) {
    this.socket = socket;
    this.callTimeout = callTimeout;
  }

  /**
   * Waits until the process accepts calls: its socket appears a moment before that.
   *
   * @param alive whether the process runs, so that it is worth waiting
   */
  void awaitReady(BooleanSupplier alive, Duration timeout) throws IOException {
    Deadline deadline = Deadline.in(timeout);
    while (true) {
      try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
        channel.connect(UnixDomainSocketAddress.of(socket));
        return;
      } catch (SocketException notYet) {
        if (!alive.getAsBoolean()) {
          throw new IOException("Firecracker did not start", notYet);
        }
        if (!deadline.pause(POLL_INTERVAL)) {
          throw new IOException(
              "Firecracker did not start within " + timeout.toMillis() + " ms", notYet);
        }
      }
    }
  }

  String version() throws IOException {
    return text(get("/version"), "firecracker_version");
  }

  State state() throws IOException {
    return State.of(text(get("/"), "state"));
  }

  void setMachine(int processors, long memoryMb) throws IOException {
    put(
        "/machine-config",
        Json.object("vcpu_count", processors, "mem_size_mib", memoryMb, "smt", false));
  }

  void setBootSource(String kernel, String initramfs, String arguments) throws IOException {
    put(
        "/boot-source",
        Json.object("kernel_image_path", kernel, "initrd_path", initramfs, "boot_args", arguments));
  }

  void addDrive(Drive drive) throws IOException {
    put(
        "/drives/" + drive.id(),
        Json.object(
            "drive_id",
            drive.id(),
            "path_on_host",
            drive.file(),
            "is_root_device",
            false,
            "is_read_only",
            drive.readOnly()));
  }

  /** Gives a running machine another file for a disk. */
  void replaceDrive(String id, String file) throws IOException {
    send("PATCH", "/drives/" + id, Json.object("drive_id", id, "path_on_host", file), callTimeout);
  }

  void setVsock(int guestId, String socketFile) throws IOException {
    put("/vsock", Json.object("guest_cid", guestId, "uds_path", socketFile));
  }

  void addNetworkInterface(NetworkInterface network) throws IOException {
    put(
        "/network-interfaces/" + network.id(),
        Json.object(
            "iface_id", network.id(), "host_dev_name", network.tap(), "guest_mac", network.mac()));
  }

  /** Adds a device from which the guest reads random bytes of the host. */
  void addEntropyDevice() throws IOException {
    put("/entropy", Map.of());
  }

  void start() throws IOException {
    put("/actions", Json.object("action_type", "InstanceStart"));
  }

  void pause() throws IOException {
    send("PATCH", "/vm", Json.object("state", "Paused"), callTimeout);
  }

  void resume() throws IOException {
    send("PATCH", "/vm", Json.object("state", "Resumed"), callTimeout);
  }

  /** Saves a paused machine. */
  void createSnapshot(Snapshot target, Duration timeout) throws IOException {
    send(
        "PUT",
        "/snapshot/create",
        Json.object(
            "snapshot_type",
            "Full",
            "snapshot_path",
            target.state(),
            "mem_file_path",
            target.memory()),
        timeout);
  }

  /**
   * Loads a machine into a process that has not been configured; it is paused afterwards. A process
   * that could not load one exits.
   *
   * @param vsock the socket of its vsock device
   * @param networks the network devices of the host that it uses now
   * @param clock whether its clock continues at the current time; x86_64 only
   */
  void loadSnapshot(
      Snapshot source,
      String vsock,
      List<NetworkInterface> networks,
      boolean clock,
      Duration timeout)
      throws IOException {
    Map<String, Object> request =
        Json.object(
            "snapshot_path",
            source.state(),
            "mem_backend",
            Json.object("backend_type", "File", "backend_path", source.memory()),
            "vsock_override",
            Json.object("uds_path", vsock),
            "resume_vm",
            false);
    if (!networks.isEmpty()) {
      request.put(
          "network_overrides",
          networks.stream()
              .map(one -> Json.object("iface_id", one.id(), "host_dev_name", one.tap()))
              .toList());
    }
    if (clock) {
      request.put("clock_realtime", true);
    }
    send("PUT", "/snapshot/load", request, timeout);
  }

  private Map<String, Object> get(String path) throws IOException {
    return call(HttpRequest.get(path), OK, callTimeout);
  }

  private void put(String path, Map<String, Object> body) throws IOException {
    send("PUT", path, body, callTimeout);
  }

  private void send(String method, String path, Map<String, Object> body, Duration timeout)
      throws IOException {
    Map<String, Object> nothing =
        call(HttpRequest.json(method, path, Json.bytes(body)), NO_CONTENT, timeout);
    assert nothing.isEmpty();
  }

  private Map<String, Object> call(HttpRequest request, int expected, Duration timeout)
      throws IOException {
    String name = request.pathWithoutQuery();
    AtomicBoolean expired = new AtomicBoolean();
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      Thread watchdog = Thread.ofVirtual().start(() -> closeAfter(channel, timeout, expired));
      try {
        channel.connect(UnixDomainSocketAddress.of(socket));
        HttpConnection connection = new HttpConnection(new ChannelTransport(channel));
        connection.send(request, false);
        int status = connection.head();
        byte[] body = connection.body(status).readNBytes(MAX_ANSWER + 1);
        return answer(name, status, expected, body);
      } finally {
        watchdog.interrupt();
      }
    } catch (FirecrackerRefusedException e) {
      throw e;
    } catch (IOException e) {
      throw new IOException(
          expired.get()
              ? "Firecracker did not answer " + name + " within " + timeout.toMillis() + " ms"
              : "Firecracker did not answer " + name + ": " + reason(e),
          e);
    }
  }

  private static void closeAfter(SocketChannel channel, Duration timeout, AtomicBoolean expired) {
    try {
      Thread.sleep(timeout);
      expired.set(true);
      channel.close();
    } catch (InterruptedException inTime) {
      // Firecracker has answered.
    } catch (IOException e) {
      throw new IllegalStateException("a socket cannot be closed", e);
    }
  }

  private static Map<String, Object> answer(String name, int status, int expected, byte[] body)
      throws IOException {
    if (body.length > MAX_ANSWER) {
      throw new IOException("its answer is longer than " + MAX_ANSWER + " bytes");
    }
    if (status >= FIRST_ERROR) {
      throw new FirecrackerRefusedException(name, status, faultMessage(body));
    }
    if (status != expected) {
      throw new IOException("its answer has status " + status + " instead of " + expected);
    }
    return status == NO_CONTENT ? Map.of() : parse(body);
  }

  private static Map<String, Object> parse(byte[] body) throws IOException {
    try {
      return Json.parseObject(body);
    } catch (MalformedJson e) {
      throw new IOException("its answer is not a JSON object", e);
    }
  }

  /** Returns the reason in an error; an error without one is described by its status alone. */
  private static String faultMessage(byte[] body) {
    try {
      return Json.parseObject(body).get("fault_message") instanceof String text
          ? printable(text)
          : "";
    } catch (MalformedJson e) {
      return "";
    }
  }

  private static String text(Map<String, Object> answer, String field) throws IOException {
    if (answer.get(field) instanceof String text && !text.isEmpty()) {
      return printable(text);
    }
    throw new IOException("Firecracker's answer has no text " + field);
  }

  private static String reason(IOException e) {
    String text = e.getMessage();
    return text == null || text.isBlank() ? e.getClass().getSimpleName() : text;
  }

  private static String printable(String text) {
    String clean = text.replaceAll("\\p{Cntrl}+", " ").strip();
    return clean.length() <= MAX_MESSAGE ? clean : clean.substring(0, MAX_MESSAGE) + "...";
  }
}
