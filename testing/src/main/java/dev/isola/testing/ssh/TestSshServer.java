package dev.isola.testing.ssh;

import dev.isola.conformance.Expect;
import dev.isola.conformance.UniqueResources;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The real sshd on a free port of the loopback interface, with its own host key and configuration.
 * It lets this user in with one key. Closing it ends every connection.
 */
public final class TestSshServer implements AutoCloseable {
  private static final Duration START_TIMEOUT = Duration.ofSeconds(30);

  /** sshd refuses to start as root without this folder. */
  private static final Path SEPARATION = Path.of("/run/sshd");

  private final Path folder;
  private final int port;
  private final Process process;
  private final boolean madeSeparation;

  private TestSshServer(Path folder, int port, Process process, boolean madeSeparation) {
    this.folder = folder;
    this.port = port;
    this.process = process;
    this.madeSeparation = madeSeparation;
  }

  /** Returns why no server can be started here; empty if one can. */
  public static Optional<String> missing() {
    return Stream.of("sshd", "ssh", "ssh-keygen")
        .filter(name -> program(name).isEmpty())
        .findFirst()
        .map(name -> name + " is not installed (apt install openssh-server openssh-client)");
  }

  private static Optional<Path> program(String name) {
    return Stream.of("/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin")
        .map(path -> Path.of(path, name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /**
   * Starts a server.
   *
   * @param folder an empty folder for its files
   */
  public static TestSshServer start(Path folder) throws IOException, InterruptedException {
    key(folder.resolve("host"));
    key(folder.resolve("user"));
    Files.copy(folder.resolve("user.pub"), folder.resolve("authorized"));
    int port = UniqueResources.reservePort();
    Path config = folder.resolve("sshd_config");
    Files.writeString(
        config,
        """
        Port %d
        ListenAddress 127.0.0.1
        HostKey %s
        AuthorizedKeysFile %s
        PidFile none
        StrictModes no
        UsePAM no
        PasswordAuthentication no
        KbdInteractiveAuthentication no
        PermitRootLogin prohibit-password
        MaxStartups 100
        """
            .formatted(port, folder.resolve("host"), folder.resolve("authorized")));
    String hostKey = Files.readString(folder.resolve("host.pub"));
    Files.writeString(folder.resolve("known_hosts"), "[127.0.0.1]:" + port + " " + hostKey);
    boolean root = Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    boolean make = root && !Files.isDirectory(SEPARATION);
    if (make) {
      Files.createDirectory(
          SEPARATION,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    }
    Process process =
        new ProcessBuilder(
                program("sshd").orElseThrow().toString(), "-D", "-e", "-f", config.toString())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("sshd.log").toFile())
            .start();
    TestSshServer server = new TestSshServer(folder, port, process, make);
    server.awaitStart();
    return server;
  }

  private static void key(Path file) throws IOException, InterruptedException {
    Process made =
        new ProcessBuilder(
                "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", file.toString())
            .redirectErrorStream(true)
            .start();
    made.getOutputStream().close();
    if (!made.waitFor(30, TimeUnit.SECONDS) || made.exitValue() != 0) {
      throw new IOException("ssh-keygen failed");
    }
  }

  private void awaitStart() throws IOException {
    if (!Expect.holdsWithin(START_TIMEOUT, () -> isReachable() || !process.isAlive())
        || !process.isAlive()) {
      String log = Files.readString(folder.resolve("sshd.log"));
      close();
      throw new IOException("sshd did not start: " + log);
    }
  }

  private boolean isReachable() {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException notYet) {
      return false;
    }
  }

  public int port() {
    return port;
  }

  /** Returns the file of the key that the server accepts. */
  public Path key() {
    return folder.resolve("user");
  }

  /** Returns a configuration of ssh that knows the host key of the server, and nothing else. */
  public Path config() throws IOException {
    return config(folder.resolve("known_hosts"));
  }

  /** Returns a configuration of ssh that expects another host key. */
  public Path configWithWrongHostKey() throws IOException, InterruptedException {
    Path other = folder.resolve("other");
    if (!Files.exists(other)) {
      key(other);
    }
    String wrong = Files.readString(folder.resolve("other.pub"));
    return config(
        Files.writeString(folder.resolve("wrong_hosts"), "[127.0.0.1]:" + port + " " + wrong));
  }

  /** Returns a configuration of ssh that knows no host key. */
  public Path configWithoutHostKey() throws IOException {
    return config(Files.writeString(folder.resolve("no_hosts"), ""));
  }

  private Path config(Path knownHosts) throws IOException {
    return Files.writeString(
        folder.resolve(knownHosts.getFileName() + ".config"),
        "UserKnownHostsFile " + knownHosts + "\nGlobalKnownHostsFile /dev/null\n");
  }

  /** Kills the processes of sshd that serve connections; returns how many there were. */
  public int dropConnections() {
    List<ProcessHandle> sessions =
        process
            .descendants()
            .filter(one -> one.info().command().orElse("").contains("sshd"))
            .toList();
    sessions.forEach(ProcessHandle::destroyForcibly);
    return sessions.size();
  }

  @Override
  public void close() {
    List<ProcessHandle> all = process.descendants().toList();
    process.destroyForcibly();
    all.forEach(ProcessHandle::destroyForcibly);
    try {
      if (madeSeparation) {
        Files.deleteIfExists(SEPARATION);
      }
    } catch (IOException e) {
      throw new IllegalStateException("cannot remove " + SEPARATION, e);
    }
  }
}
