package dev.isola.host.network;

import dev.isola.spi.SandboxId;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.opentest4j.TestAbortedException;

/**
 * A host and an internet, both network namespaces that end with the test. The host has one
 * interface, {@code eth0}, which leads to {@link #PUBLIC} and to addresses that sandboxes must not
 * reach. Each of them answers on port 8000 with the address of the client. No packet leaves the
 * machine, and its own interfaces, routes and rules are not changed.
 */
final class NetworkTestbed implements AutoCloseable {
  static final String PUBLIC = "203.0.113.7";
  static final String HOST = "198.51.100.1";

  /** A second address of the host, outside all blocked ranges. */
  static final String SECOND_HOST = "192.0.2.77";

  static final String RESOLVER = "10.53.0.53";
  static final List<String> PRIVATE =
      List.of("10.9.9.9", "100.64.1.1", "169.254.169.254", "172.16.3.3", "192.168.7.7");

  private static final String NOBODY_UID = "65534";
  private static final String SERVE =
      """
      import socket, socketserver, sys, threading
      class Tcp(socketserver.BaseRequestHandler):
          def handle(self): self.request.sendall(b"from " + self.client_address[0].encode())
      class Bulk(socketserver.BaseRequestHandler):
          def handle(self):
              word, count = self.request.recv(100).decode().split()
              if word == "get": self.request.sendall(bytes(int(count)))
              else:
                  left = int(count)
                  self.request.sendall(b"go")
                  while left > 0: left -= len(self.request.recv(65536)) or left
                  self.request.sendall(b"done")
      class Udp(socketserver.BaseRequestHandler):
          def handle(self): self.request[1].sendto(b"from " + self.client_address[0].encode(), self.client_address)
      class TcpServer(socketserver.ThreadingTCPServer):
          allow_reuse_address = True
          request_queue_size = 100
      servers = [TcpServer(("0.0.0.0", p), Tcp) for p in (53, 8000)] + [TcpServer(("0.0.0.0", 8001), Bulk)]
      for address in sys.argv[1:]: servers.append(socketserver.UDPServer((address, 53), Udp))
      for s in servers: threading.Thread(target=s.serve_forever, daemon=True).start()
      print("ready", flush=True)
      sys.stdin.read()
      """;

  /** Arguments: timeout, then ADDRESS:PORT[:udp][:INTERFACE]...; all are tried concurrently. */
  private static final String DIAL =
      """
      import socket, sys, threading
      def dial(target):
          address, port, *how = target.split(":")
          udp = "udp" in how
          s = socket.socket(type=socket.SOCK_DGRAM if udp else socket.SOCK_STREAM)
          s.settimeout(int(sys.argv[1]))
          try:
              for link in how:
                  if link != "udp": s.setsockopt(socket.SOL_SOCKET, 25, link.encode())
              s.connect((address, int(port)))
              if udp: s.send(b"?")
              return s.recv(100).decode()
          except OSError as e:
              return "no: " + str(e)
      def line(target): print(target + " " + dial(target) + "\\n", end="", flush=True)
      threads = [threading.Thread(target=line, args=(t,)) for t in sys.argv[2:]]
      for t in threads: t.start()
      for t in threads: t.join()
      """;

  private static final String TRANSFER =
      """
      import socket, sys, time
      s = socket.create_connection((sys.argv[1], 8001), 10)
      begun = time.monotonic()
      left = 750000
      s.sendall((sys.argv[2] + " 750000").encode())
      if sys.argv[2] == "put":
          s.recv(2)
          s.sendall(bytes(left))
          left = 4
      while left > 0: left -= len(s.recv(65536)) or left
      print(int((time.monotonic() - begun) * 1000))
      """;
  private static final String CONVERSE =
      """
      import resource, socket, sys
      resource.setrlimit(resource.RLIMIT_NOFILE, (5000, 5000))
      sockets = []
      try:
          while len(sockets) < 4200:
              s = socket.socket(type=socket.SOCK_DGRAM)
              s.settimeout(5)
              s.connect((sys.argv[1], 53))
              s.send(b"?")
              s.recv(100)
              sockets.append(s)
      except ConnectionRefusedError: pass
      print(len(sockets))
      """;

  private final Deque<AutoCloseable> resources = new ArrayDeque<>();
  private final Path folder;
  private final boolean root;
  private int kept;
  final TestNamespace host;
  final TestNamespace internet;

  /** Creates a testbed whose sandboxes belong to root or to an ordinary user. */
  NetworkTestbed(Path folder, boolean root) throws IOException, InterruptedException {
    this.folder = folder;
    this.root = root;
    requireRights();
    requirePrograms("ip", "nft", "unshare", "nsenter", "python3", "setpriv", "tc");
    try {
      host = space(List.of("unshare", "--net", "--mount", "--propagation", "private"));
      internet = space(List.of("unshare", "--net"));
      setUp();
    } catch (IOException e) {
      close();
      String[] lines = String.valueOf(e.getMessage()).strip().split("\n");
      throw new TestAbortedException("NOT RUN: no such host here: " + lines[lines.length - 1]);
    }
    serve(internet);
    serve(host);
  }

  private static void requireRights() throws IOException {
    Assumptions.assumeTrue(
        Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0),
        "NOT RUN: a host and an internet of one's own need root");
  }

  static void requirePrograms(String... names) {
    List<String> missing = NetworkProgram.missing(names);
    Assumptions.assumeTrue(missing.isEmpty(), "NOT RUN: not installed: " + missing);
  }

  private TestNamespace space(List<String> words) throws IOException {
    TestNamespace space = TestNamespace.of(words);
    resources.push(space);
    return space;
  }

  private void setUp() throws IOException, InterruptedException {
    host.sh(
        """
        mount -t tmpfs tmpfs /run
        mount -t tmpfs tmpfs /dev/net
        mknod -m 666 /dev/net/tun c 10 200
        echo nameserver %s >/run/resolv.conf
        mount --bind /run/resolv.conf /etc/resolv.conf
        ip link set lo up
        ip addr add %s/32 dev lo
        ip link add eth0 type veth peer name up0 netns %d
        ip addr add %s/24 dev eth0
        ip link set eth0 addrgenmode none up
        """
            .formatted(RESOLVER, SECOND_HOST, internet.pid(), HOST));
    StringBuilder far = new StringBuilder("ip link set lo up\n");
    Stream.concat(Stream.of(PUBLIC, RESOLVER), PRIVATE.stream())
        .forEach(address -> far.append("ip addr add " + address + "/32 dev lo\n"));
    internet.sh(
        far
            + "ip addr add 198.51.100.2/24 dev up0\n"
            + "ip link set up0 addrgenmode none up\n"
            + "ip route add default via 198.51.100.1\n");
    host.sh("ip route add default via 198.51.100.2");
  }

  /**
   * Serves TCP ports 53 and 8000 in {@code space} until the end of the test; the resolver also UDP.
   */
  void serve(TestNamespace space) throws IOException {
    List<String> words = new ArrayList<>(space.enterCommand());
    words.addAll(List.of("python3", "-c", SERVE));
    if (space == internet) {
      words.add(RESOLVER);
    }
    Process server = TestNamespace.start(words);
    resources.push(() -> TestNamespace.end(server));
  }

  /** Returns the answers of the targets as seen from {@code space}, with a long timeout. */
  Map<String, String> dial(TestNamespace space, List<String> targets)
      throws IOException, InterruptedException {
    return dial(space, "10", targets);
  }

  String dial(TestNamespace space, String target) throws IOException, InterruptedException {
    return dial(space, List.of(target)).getOrDefault(target, "");
  }

  /** Likewise with a short timeout, for targets that must not answer. */
  Map<String, String> probe(TestNamespace space, List<String> targets)
      throws IOException, InterruptedException {
    return dial(space, "1", targets);
  }

  String probe(TestNamespace space, String target) throws IOException, InterruptedException {
    return probe(space, List.of(target)).getOrDefault(target, "");
  }

  private static Map<String, String> dial(TestNamespace space, String seconds, List<String> targets)
      throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of("python3", "-c", DIAL, seconds));
    words.addAll(targets);
    Map<String, String> answers = new LinkedHashMap<>();
    for (String line : space.run(words).lines().toList()) {
      int gap = line.indexOf(' ');
      answers.put(line.substring(0, gap), line.substring(gap + 1));
    }
    return answers;
  }

  /**
   * Returns how many milliseconds the transfer of 750,000 bytes takes; {@code get} or {@code put}.
   */
  static long transfer(TestNamespace sandbox, String way) throws IOException, InterruptedException {
    return Long.parseLong(sandbox.run(List.of("python3", "-c", TRANSFER, PUBLIC, way)).strip());
  }

  /** Returns the number of connections a sandbox can open before one is rejected, at most 4200. */
  static int countConnections(TestNamespace sandbox) throws IOException, InterruptedException {
    return Integer.parseInt(sandbox.run(List.of("python3", "-c", CONVERSE, RESOLVER)).strip());
  }

  /**
   * Creates what a booter creates: a process in an empty network namespace and a user namespace.
   */
  TestNamespace sandbox() throws IOException {
    List<String> words = new ArrayList<>(host.enterCommand());
    words.addAll(asUser());
    words.addAll(List.of("unshare", "--user", "--map-root-user", "--net"));
    return space(words);
  }

  private List<String> asUser() {
    return root
        ? List.of()
        : List.of("setpriv", "--reuid", NOBODY_UID, "--regid", NOBODY_UID, "--clear-groups");
  }

  /** Starts the network on the host as a separate installation. */
  InstallationNetwork network(String instance) throws IOException {
    List<String> words = new ArrayList<>(host.enterCommand());
    words.addAll(asUser());
    words.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xmx64m",
            "-cp",
            classes(),
            NetworkProcess.class.getName(),
            instance));
    InstallationNetwork network = new InstallationNetwork(instance, TestNamespace.start(words));
    resources.push(network);
    return network;
  }

  /** Keeps everything created so far when the testbed is reset. */
  void keep() {
    kept = resources.size();
  }

  /** Returns a copy of the class path that every user can read. */
  private String classes() throws IOException {
    Path copies = folder.resolve("classes");
    List<String> entries = new ArrayList<>();
    boolean there = Files.exists(copies);
    for (String entry : System.getProperty("java.class.path").split(":")) {
      Path from = Path.of(entry);
      if (Files.isDirectory(from) || from.getFileName().toString().startsWith("isola-")) {
        Path to = copies.resolve(Integer.toString(entries.size()));
        if (!there) {
          copy(from, to);
        }
        entries.add(to.toString());
      }
    }
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    return String.join(":", entries);
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to.getParent());
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(from.relativize(file).toString()));
      }
    }
  }

  /** Returns all interfaces, routes and rules of the host. */
  String inventory() throws IOException, InterruptedException {
    return host.sh(
        """
        ip -o addr show; ip -o link show | sed 's/ qdisc .*//'; ip route show table all; ip rule; ip neigh show nud permanent
        nft list ruleset
        cd /proc/sys/net/ipv4/conf; grep . */forwarding
        """);
  }

  /** Restores the host after a test that failed or does not clean up. */
  void reset() throws IOException, InterruptedException {
    while (resources.size() > kept) {
      pop();
    }
    host.sh(
        """
        chmod 666 /dev/net/tun
        nft flush ruleset
        for link in $(ip -o link show type veth | sed 's/^[0-9]*: //; s/[@:].*//'); do
          [ "$link" = eth0 ] || ip link delete "$link" 2>/dev/null || true
        done
        ip route flush root 198.19.0.0/16
        for link in /proc/sys/net/ipv4/conf/*; do echo 0 >"$link/forwarding"; done
        """);
  }

  private void pop() throws IOException {
    try {
      resources.pop().close();
    } catch (IOException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  static SandboxId id() {
    return SandboxId.random(RandomGenerator.getDefault());
  }

  static String instance() {
    return id().value();
  }

  @Override
  public void close() throws IOException {
    while (!resources.isEmpty()) {
      pop();
    }
  }

  /** A {@link NetworkProcess} on the host. */
  static final class InstallationNetwork implements AutoCloseable {
    private final String instance;
    private final Process process;
    private final BufferedReader answers;

    private InstallationNetwork(String instance, Process process) {
      this.instance = instance;
      this.process = process;
      this.answers = process.inputReader(StandardCharsets.UTF_8);
    }

    String instance() {
      return instance;
    }

    /** Sends a command without waiting for the answer. */
    void send(String line) throws IOException {
      process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
    }

    String answer() throws IOException {
      return String.valueOf(answers.readLine());
    }

    String request(String line) throws IOException {
      send(line);
      return answer();
    }

    /** Attaches a sandbox and returns its address. */
    String attach(SandboxId id, TestNamespace sandbox, int mbps) throws IOException {
      String answer = request("attach " + id + " " + sandbox.pid() + " " + mbps);
      if (!answer.startsWith("ok ")) {
        throw new IOException(answer);
      }
      return answer.split(" ")[1];
    }

    void kill() throws IOException {
      TestNamespace.end(process);
    }

    @Override
    public void close() throws IOException {
      TestNamespace.end(process);
    }
  }
}
