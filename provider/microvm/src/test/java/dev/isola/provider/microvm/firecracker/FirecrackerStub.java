package dev.isola.provider.microvm.firecracker;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.conformance.Expect;
import dev.isola.provider.microvm.firecracker.StubRequestCheck.State;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * A stub of Firecracker. It serves the API and checks every request against what Firecracker
 * publishes, opens the files and sockets that Firecracker opens, and dials the host as the init of
 * a guest does. It executes no guest: where a test needs one, a real agent runs on the host
 * instead, without any isolation. Tests run the stub in their own process, or as a program ({@link
 * StubProgram}).
 */
public final class FirecrackerStub implements AutoCloseable {
  static final String VERSION = "1.16.1";

  private static final String WAITING = "isola-waiting-1\n";
  private static final int FLOOD = 1 << 20;

  private final Path folder;
  private final StubFaults faults;
  private final StubLog log;
  private final IntConsumer exit;
  private final Optional<Integer> user;
  private final ServerSocketChannel server;
  private Map<String, Object> devices = new LinkedHashMap<>();
  private State state = State.FRESH;
  private Optional<ServerSocketChannel> vsock = Optional.empty();
  private volatile boolean recordReceived;
  private volatile boolean agentStarted;

  /** A refusal, with the status 400. */
  private static final class Refusal extends Exception {
    private static final long serialVersionUID = 1;

    Refusal(String reason) {
      super(reason);
    }
  }

  /**
   * Listens on the API socket.
   *
   * @param folder what requests name files relative to
   * @param user the user that a jailer would have changed to; empty for none
   * @param exit called with the exit code when Firecracker would exit
   */
  FirecrackerStub(
      Path folder,
      Path socket,
      Optional<Integer> user,
      StubFaults faults,
      StubLog log,
      IntConsumer exit)
      throws IOException {
    this.user = user;
    this.folder = folder;
    this.faults = faults;
    this.log = log;
    this.exit = exit;
    this.server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(socket));
    Thread.ofVirtual().start(this::accept);
  }

  /** Runs the stub as a program with the arguments of Firecracker, until it is killed. */
  public static void main(String[] arguments) throws Exception {
    Map<String, String> options = new LinkedHashMap<>();
    for (int i = 0; i < arguments.length; i++) {
      String[] word = arguments[i].split("=", 2);
      options.put(word[0], word.length == 2 ? word[1] : arguments[++i]);
    }
    for (String option : options.keySet()) {
      if (!List.of("--id", "--api-sock", "--start-time-us", "--start-time-cpu-us")
          .contains(option)) {
        System.out.println("Arguments parsing error: unexpected argument " + option);
        System.exit(153);
      }
    }
    Path folder = Path.of("").toAbsolutePath();
    Path socket = folder.resolve(options.getOrDefault("--api-sock", "run/firecracker.socket"));
    System.out.println("Running Firecracker v" + VERSION);
    try (FirecrackerStub _ =
        new FirecrackerStub(
            folder,
            socket,
            Optional.of(System.getProperty("stub.user", ""))
                .filter(text -> !text.isEmpty())
                .map(Integer::valueOf),
            StubFaults.inFile(Path.of(System.getProperty("stub.faults"))),
            StubLog.inFile(Path.of(System.getProperty("stub.log"))),
            System::exit)) {
      Thread.currentThread().join();
    }
  }

  private void accept() {
    while (server.isOpen()) {
      try {
        SocketChannel connection = server.accept();
        Thread.ofVirtual().start(() -> serve(connection));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void serve(SocketChannel connection) {
    try (connection) {
      InputStream in = Channels.newInputStream(connection);
      OutputStream out = Channels.newOutputStream(connection);
      while (serveOne(in, out)) {
        // Keeps the connection.
      }
    } catch (IOException gone) {
      // The client has gone.
    }
  }

  private boolean serveOne(InputStream in, OutputStream out) throws IOException {
    String requestLine = line(in);
    if (requestLine.isEmpty()) {
      return false;
    }
    int length = 0;
    for (String header = line(in); !header.isEmpty(); header = line(in)) {
      String[] parts = header.split(":", 2);
      if (parts[0].equalsIgnoreCase("content-length")) {
        length = Integer.parseInt(parts[1].strip());
      }
    }
    String[] words = requestLine.split(" ");
    byte[] body = in.readNBytes(length);
    Optional<StubFaults.Fault> fault = faults.of(words[0] + " " + words[1]);
    if (fault.isPresent()) {
      play(fault.get(), in, out);
      log.add(words[0] + " " + words[1] + " fault " + fault.get());
      return false;
    }
    handle(words[0], words[1], body, out);
    return true;
  }

  private void play(StubFaults.Fault fault, InputStream in, OutputStream out) throws IOException {
    switch (fault.kind()) {
      case HANG -> {
        int _ = in.read(); // until the client hangs up
      }
      case ANSWER -> out.write(fault.detail().getBytes(UTF_8));
      case FLOOD -> {
        out.write(("HTTP/1.1 200 \r\nContent-Length: " + FLOOD + "\r\n\r\n").getBytes(ISO_8859_1));
        out.write(new byte[FLOOD]);
      }
      case EXIT -> exit.accept(Integer.parseInt(fault.detail()));
    }
  }

  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next >= 0 && next != '\n'; next = in.read()) {
      if (next != '\r') {
        line.write(next);
      }
    }
    return line.toString(ISO_8859_1);
  }

  private synchronized void handle(String method, String path, byte[] body, OutputStream out)
      throws IOException {
    String name = method + " " + path;
    Map<String, Object> fields = Map.of();
    try {
      if (method.equals("GET") != (body.length == 0)) {
        throw new Refusal(
            method + " request " + (body.length == 0 ? "without" : "with") + " body.");
      }
      try {
        fields = body.length == 0 ? Map.of() : Json.parseObject(body);
      } catch (MalformedJson e) {
        throw new Refusal("The body is not a JSON object.");
      }
      Optional<String> violation = StubRequestCheck.violation(state, method, path, fields);
      if (violation.isPresent()) {
        throw new Refusal(violation.get());
      }
      Map<String, Object> answer = perform(name, path, fields);
      log.add(name + " " + Json.text(fields));
      respond(out, answer.isEmpty() ? 204 : 200, answer);
    } catch (Refusal e) {
      log.add(name + " " + Json.text(fields) + " refused: " + e.getMessage());
      respond(out, 400, Json.object("fault_message", String.valueOf(e.getMessage())));
      if (name.equals("PUT /snapshot/load")) {
        exit.accept(1);
      }
    }
  }

  private static void respond(OutputStream out, int status, Map<String, Object> body)
      throws IOException {
    byte[] content = body.isEmpty() ? new byte[0] : Json.bytes(body);
    String head =
        "HTTP/1.1 "
            + status
            + " \r\nServer: Firecracker API\r\nConnection: keep-alive\r\n"
            + (content.length == 0
                ? ""
                : "Content-Type: application/json\r\nContent-Length: " + content.length + "\r\n")
            + "\r\n";
    out.write(head.getBytes(ISO_8859_1));
    out.write(content);
  }

  private Map<String, Object> perform(String name, String path, Map<String, Object> body)
      throws IOException, Refusal {
    switch (name) {
      case "GET /" -> {
        return Json.object(
            "app_name",
            "Firecracker",
            "id",
            "stub",
            "state",
            state == State.RUNNING ? "Running" : state == State.PAUSED ? "Paused" : "Not started",
            "vmm_version",
            VERSION);
      }
      case "GET /version" -> {
        return Json.object("firecracker_version", VERSION);
      }
      case "PUT /actions" -> start(body);
      case "PATCH /vm" -> changeState(body);
      case "PUT /snapshot/create" -> save(body);
      case "PUT /snapshot/load" -> load(body);
      default -> configure(path, body);
    }
    return Map.of();
  }

  private void configure(String path, Map<String, Object> body) throws IOException, Refusal {
    open(body);
    if (path.equals("/machine-config")
        && (number(body, "vcpu_count") < 1
            || number(body, "vcpu_count") > 32
            || number(body, "mem_size_mib") < 1)) {
      throw new Refusal("The vCPU number or the memory size is invalid!");
    }
    if (path.equals("/vsock")) {
      if (number(body, "guest_cid") < 3) {
        throw new Refusal("The guest CID is reserved.");
      }
      listen(text(body, "uds_path"));
    }
    devices.put(path, body);
    if (state == State.FRESH) {
      state = State.CONFIGURED;
    }
  }

  private static long number(Map<String, Object> body, String name) {
    return body.get(name) instanceof Number number ? number.longValue() : 0;
  }

  private static Map<?, ?> map(Map<String, Object> body, String name) {
    return body.get(name) instanceof Map<?, ?> map ? map : Map.of();
  }

  private static String text(Map<?, ?> body, String name) {
    return String.valueOf(body.get(name));
  }

  /** Opens the files that a device has. */
  private void open(Map<?, ?> device) throws Refusal {
    for (String field : List.of("kernel_image_path", "initrd_path", "path_on_host")) {
      if (device.get(field) instanceof String file) {
        Path path = folder.resolve(file);
        boolean writable = Boolean.FALSE.equals(device.get("is_read_only"));
        if (!mayAccess(path, writable)) {
          throw new Refusal(
              "Unable to open "
                  + file
                  + (writable ? " for writing" : "")
                  + ": "
                  + (Files.exists(path)
                      ? "Permission denied (os error 13)"
                      : "No such file or directory (os error 2)"));
        }
      }
    }
  }

  /** Returns whether the user of a jailed process may access a file. */
  private boolean mayAccess(Path path, boolean writable) {
    if (!Files.exists(path)) {
      return false;
    }
    try {
      boolean owner = user.isEmpty() || Files.getAttribute(path, "unix:uid").equals(user.get());
      int mode = (int) Files.getAttribute(path, "unix:mode") >> (owner ? 6 : 0);
      return (mode & 4) != 0 && (!writable || (mode & 2) != 0);
    } catch (IOException e) {
      return false;
    }
  }

  private void listen(String socket) throws IOException, Refusal {
    Path path = folder.resolve(socket);
    if (Files.exists(path)) {
      throw new Refusal("Cannot create backend for vsock device: UnixBind: Address in use");
    }
    ServerSocketChannel listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    listening.bind(UnixDomainSocketAddress.of(path));
    vsock = Optional.of(listening);
    Thread.ofVirtual().start(() -> refuseConnections(listening));
  }

  /** No program of the guest listens; one that has not booted does not even answer. */
  private void refuseConnections(ServerSocketChannel listening) {
    while (listening.isOpen()) {
      try {
        SocketChannel connection = listening.accept();
        if (isRunning()) {
          connection.close();
        }
      } catch (IOException closed) {
        return;
      }
    }
  }

  private synchronized boolean isRunning() {
    return state == State.RUNNING;
  }

  private void start(Map<String, Object> body) throws Refusal {
    if (!text(body, "action_type").equals("InstanceStart")) {
      throw new Refusal("The stub does not know the action " + body.get("action_type"));
    }
    if (!devices.containsKey("/boot-source")) {
      throw new Refusal("Cannot start microvm without kernel configuration.");
    }
    state = State.RUNNING;
    Thread.ofVirtual().start(this::dialHost);
  }

  private void changeState(Map<String, Object> body) throws Refusal {
    state =
        switch (text(body, "state")) {
          case "Paused" -> State.PAUSED;
          case "Resumed" -> State.RUNNING;
          default -> throw new Refusal("unknown variant `" + body.get("state") + "`");
        };
  }

  private void save(Map<String, Object> body) throws IOException {
    Path memory = folder.resolve(text(body, "mem_file_path"));
    Path saved = folder.resolve(text(body, "snapshot_path"));
    Files.writeString(memory, "memory of a guest");
    Files.write(saved, Json.bytes(Json.object("devices", devices, "booted", recordReceived)));
  }

  private void load(Map<String, Object> body) throws IOException, Refusal {
    Map<?, ?> backend = map(body, "mem_backend");
    Path saved = folder.resolve(text(body, "snapshot_path"));
    if (!text(backend, "backend_type").equals("File")
        || !mayAccess(folder.resolve(text(backend, "backend_path")), false)
        || !mayAccess(saved, false)) {
      throw new Refusal(
          "Load snapshot error: Failed to restore from snapshot: Failed to get snapshot state from"
              + " file: Failed to open snapshot file: No such file or directory (os error 2)");
    }
    Map<String, Object> snapshot = Json.parseObject(Files.readAllBytes(saved));
    devices = new LinkedHashMap<>();
    map(snapshot, "devices").forEach(this::restore);
    for (Map.Entry<String, Object> device : devices.entrySet()) {
      if (device.getKey().startsWith("/drives/")) {
        open((Map<?, ?>) device.getValue());
      }
    }
    if (devices.get("/vsock") instanceof Map<?, ?> device) {
      listen(
          body.get("vsock_override") instanceof Map<?, ?> override
              ? text(override, "uds_path")
              : text(device, "uds_path"));
    }
    recordReceived = Boolean.TRUE.equals(snapshot.get("booted"));
    state = State.PAUSED;
    Thread.ofVirtual().start(this::dialHost);
  }

  private void restore(Object path, Object device) {
    devices.put(String.valueOf(path), device);
  }

  /** What the init of a guest does: it asks for its record, and dials again when it has it. */
  private void dialHost() {
    Path socket = agentSocket();
    boolean _ =
        Expect.holdsWithin( // which loads less than Awaitility, in a program that starts often
            Duration.ofMinutes(10),
            () -> {
              if (isRunning() && mayAccess(socket, true)) {
                try (SocketChannel host = SocketChannel.open(StandardProtocolFamily.UNIX)) {
                  host.connect(UnixDomainSocketAddress.of(socket));
                  converse(host);
                } catch (IOException notNow) {
                  // It dials again.
                }
              }
              return agentStarted || !server.isOpen();
            });
  }

  private void converse(SocketChannel host) throws IOException {
    InputStream in = Channels.newInputStream(host);
    if (recordReceived) {
      log.add("guest dialed again");
      int _ = in.read(); // until the host hangs up
      return;
    }
    Channels.newOutputStream(host).write(WAITING.getBytes(ISO_8859_1));
    byte[] length = in.readNBytes(4);
    if (length.length < 4) {
      return;
    }
    byte[] fields = in.readNBytes(ByteBuffer.wrap(length).getInt());
    recordReceived = true;
    log.add("guest received its record");
    String agent = System.getProperty("stub.agent", "");
    if (!agent.isEmpty()) {
      agentStarted = true;
      Thread.ofPlatform().daemon().start(() -> runAgent(agent, length, fields));
    }
  }

  /** Runs an agent that ends with this process, and with it the stub's machine. */
  private void runAgent(String agent, byte[] length, byte[] fields) {
    try {
      Process process =
          new ProcessBuilder(
                  "setpriv",
                  "--pdeathsig=KILL",
                  agent,
                  "--instance",
                  "stub",
                  "--sandbox",
                  "stub",
                  "--dial",
                  "unix:" + agentSocket())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      try (OutputStream in = process.getOutputStream()) {
        in.write(length);
        in.write(fields);
      }
      exit.accept(process.waitFor());
    } catch (IOException | InterruptedException e) {
      log.add("the agent cannot be started: " + e);
    }
  }

  private Path agentSocket() {
    return folder.resolve(FirecrackerFolder.VSOCK + "_" + FirecrackerFolder.AGENT_PORT);
  }

  @Override
  public synchronized void close() throws IOException {
    server.close();
    if (vsock.isPresent()) {
      vsock.get().close();
    }
  }

  /** What the stub did, line by line. */
  interface StubLog {
    void add(String line);

    static StubLog inFile(Path file) {
      return line -> {
        try {
          Files.writeString(
              file, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
          throw new IllegalStateException(e);
        }
      };
    }
  }
}
