package dev.isola.testing.engine;

import dev.isola.conformance.Expect;
import dev.isola.conformance.TemporaryFolder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A private container engine for a test, with its own data, socket, control groups and namespaces
 * (pid, mount, network). It cannot affect the networks or mounts of this machine, and closing it
 * removes everything. {@code testing/engines-here.sh} does the same for a command.
 */
public final class TestContainerEngine implements AutoCloseable {
  /** The kind of engine. */
  public enum Kind {
    DOCKER("docker.sh", "dockerd containerd runc unshare ip"),
    /** Podman has no daemon, but a service with the same API. */
    PODMAN("podman.sh", "podman conmon runc unshare ip");

    private final String script;
    private final String programs;

    Kind(String script, String programs) {
      this.script = script;
      this.programs = programs;
    }

    /** Returns why this kind cannot run here, or empty if it can. */
    public Optional<String> missing() {
      if (!System.getProperty("user.name", "").equals("root")) {
        return Optional.of("a private engine needs root");
      }
      return Stream.of(programs.split(" "))
          .filter(program -> !installed(program))
          .findFirst()
          .map(program -> program + " is not installed");
    }

    private static boolean installed(String program) {
      return Stream.of(
              "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
          .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }
  }

  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int LAST_WORDS = 2000;

  private final Kind kind;
  private final Path work;
  private final EngineCgroups groups;
  private final List<String> options;
  private @Nullable Process engine;

  private TestContainerEngine(Kind kind, Path work, List<String> options) {
    this.kind = kind;
    this.work = work;
    this.options = options;
    this.groups = EngineCgroups.of(kind, work);
  }

  /**
   * Starts a Docker engine and returns when it responds.
   *
   * @param remaps whether root of its containers is an unprivileged user on the host
   * @param options of dockerd
   */
  public static TestContainerEngine docker(boolean remaps, String... options) {
    Path work = TemporaryFolder.create("isola-eng").path(); // remapped users traverse it
    List<String> all = new ArrayList<>(List.of(options));
    if (remaps) {
      plantUsers(work);
      all.add("--userns-remap=isolaremap");
    }
    return started(new TestContainerEngine(Kind.DOCKER, work, all));
  }

  /** Starts a Docker engine with a disk of {@code bytes} bytes. */
  public static TestContainerEngine dockerWithDiskLimit(long bytes) throws IOException {
    Path work = TemporaryFolder.create("isola-eng").path();
    Files.writeString(work.resolve("small"), Long.toString(bytes));
    return started(new TestContainerEngine(Kind.DOCKER, work, List.of()));
  }

  /**
   * Makes the container metadata of the engine read-only, as the kernel does after a disk error.
   */
  public void makeDiskReadOnly() throws IOException, InterruptedException {
    // A second mount, because files open for writing prevent a remount of the first.
    String script = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\"";
    List<String> words = new ArrayList<>(List.of("nsenter", "--mount", "--target"));
    words.add(Long.toString(daemon().getFirst().pid()));
    words.addAll(List.of("sh", "-c", script, "sh", work.resolve("data/containers").toString()));
    Process remount = new ProcessBuilder(words).redirectErrorStream(true).start();
    String output = new String(remount.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (remount.waitFor() != 0) {
      throw new IOException("the disk cannot be made read-only: " + output);
    }
  }

  /** Starts the Podman service in the same way. */
  public static TestContainerEngine podman() {
    return started(
        new TestContainerEngine(
            Kind.PODMAN, TemporaryFolder.create("isola-eng").path(), List.of()));
  }

  private static TestContainerEngine started(TestContainerEngine own) {
    try {
      own.start();
      return own;
    } catch (RuntimeException | IOException e) {
      String output = own.log();
      own.close();
      throw new IllegalStateException("the engine did not start: " + output, e);
    }
  }

  /**
   * Creates subordinate users for containers, visible only in the mount namespace of the engine.
   */
  private static void plantUsers(Path work) {
    try {
      Path etc = Files.createDirectory(work.resolve("etc"));
      Files.writeString(
          etc.resolve("passwd"),
          Files.readString(Path.of("/etc/passwd")) + "isolaremap:x:64999:64999::/:/bin/false\n");
      Files.writeString(
          etc.resolve("group"), Files.readString(Path.of("/etc/group")) + "isolaremap:x:64999:\n");
      Files.writeString(etc.resolve("subuid"), "isolaremap:1000000000:65536\n");
      Files.writeString(etc.resolve("subgid"), "isolaremap:1000000000:65536\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void start() throws IOException {
    Path script = work.resolve(kind.script);
    try (InputStream text = TestContainerEngine.class.getResourceAsStream(kind.script)) {
      if (text == null) {
        throw new IOException("there is no resource " + kind.script + "");
      }
      Files.copy(text, script);
    }
    List<String> words = new ArrayList<>(List.of("unshare", "--pid", "--fork", "--kill-child"));
    words.addAll(List.of("--mount-proc", "--net", "sh", script.toString(), work.toString()));
    words.add(groups.name());
    words.addAll(options);
    Process started =
        new ProcessBuilder(words)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    engine = started;
    await("the engine answers", () -> isReachable() || !started.isAlive());
    if (!started.isAlive()) {
      throw new IOException("it ended");
    }
  }

  private static void await(String what, BooleanSupplier condition) {
    if (!Expect.holdsWithin(TIMEOUT, condition)) {
      throw new IllegalStateException("not within " + TIMEOUT + ": " + what);
    }
  }

  /** Returns whether it responds to a ping. */
  public boolean isReachable() {
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.connect(UnixDomainSocketAddress.of(socket()));
      channel.write(
          ByteBuffer.wrap(
              "GET /_ping HTTP/1.0\r\nHost: engine\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
      ByteBuffer answer = ByteBuffer.allocate("HTTP/1.0 200".length());
      for (int count = 0; count >= 0 && answer.hasRemaining(); ) {
        count = channel.read(answer);
      }
      return new String(answer.array(), StandardCharsets.US_ASCII).endsWith(" 200");
    } catch (IOException notYet) {
      return false;
    }
  }

  /** Returns the end of its log. */
  public String log() {
    try {
      String all = Files.readString(work.resolve("log"));
      return all.substring(Math.max(0, all.length() - LAST_WORDS));
    } catch (IOException none) {
      return "";
    }
  }

  public Path socket() {
    return work.resolve("docker.sock");
  }

  /** Returns its address in the form of {@code DOCKER_HOST}. */
  public String host() {
    return "unix://" + socket();
  }

  /** Stops the daemon, as an upgrade does, until {@link #restartDaemon()}. */
  public void stopDaemon() throws IOException {
    leave(ProcessHandle::destroy);
  }

  /** Kills the daemon without a clean shutdown, until {@link #restartDaemon()}. */
  public void killDaemon() throws IOException {
    leave(ProcessHandle::destroyForcibly);
  }

  private void leave(Consumer<ProcessHandle> end) throws IOException {
    Files.writeString(work.resolve("held"), "");
    Files.writeString(work.resolve("again"), "");
    daemon().forEach(end);
    await("the daemon ends", () -> daemon().isEmpty());
  }

  public void restartDaemon() throws IOException {
    Files.delete(work.resolve("held"));
    await("the engine answers again", this::isReachable);
  }

  private List<ProcessHandle> daemon() {
    return ProcessHandle.allProcesses()
        .filter(
            process ->
                commandLine(process).startsWith("dockerd\0--data-root\0" + work)
                    || commandLine(process).endsWith("unix://" + socket() + "\0"))
        .toList();
  }

  private void stop() {
    Process running = engine;
    if (running == null) {
      return;
    }
    engine = null;
    try {
      daemon().forEach(ProcessHandle::destroy);
      if (!running.waitFor(30, TimeUnit.SECONDS)) {
        // Process 1 of its pid namespace, so that all its children end with it.
        running.children().forEach(ProcessHandle::destroyForcibly);
      }
      running.destroyForcibly();
      running.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Stops the engine and its containers, and removes everything.
   *
   * @throws IllegalStateException if anything is left
   */
  @Override
  public void close() {
    stop();
    groups.remove();
    TemporaryFolder.remove(work);
    await("nothing is left of the engine: " + leftovers(), () -> leftovers().isEmpty());
  }

  /** Returns what is left of the engine: processes, mounts, control groups, its folder. */
  public List<String> leftovers() {
    List<String> found = new ArrayList<>();
    ProcessHandle.allProcesses()
        .filter(process -> commandLine(process).contains(work.toString()))
        .forEach(process -> found.add("process " + process.pid()));
    try (Stream<String> mounts = Files.lines(Path.of("/proc/self/mountinfo"))) {
      mounts.filter(line -> line.contains(work.toString())).forEach(found::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    groups.found().forEach(group -> found.add("control group " + group));
    if (Files.exists(work)) {
      found.add("folder " + work);
    }
    return found;
  }

  private static String commandLine(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc/" + process.pid() + "/cmdline"));
    } catch (IOException gone) {
      return "";
    }
  }
}
