package dev.isola.provider.docker;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.host.launch.HostProgram;
import dev.isola.host.launch.Users;
import dev.isola.provider.docker.http.EngineHttp;
import dev.isola.testing.Scratch;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A Docker engine of the tests' own: its data, its socket, its control groups and its namespaces
 * (pid, mount, network) are its own, so nothing it does reaches this machine's networks or mounts,
 * and all of it is gone at the end. As an extension it keeps one for all test classes of a JVM.
 */
final class OwnEngine implements BeforeAllCallback, AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final ExtensionContext.Namespace HERE =
      ExtensionContext.Namespace.create(OwnEngine.class);

  /** Users that the engine can give to containers, known only in its own mount namespace. */
  private static final String START =
      """
      work=$1; groups=$2; shift 2
      ip link set lo up
      for file in passwd group subuid subgid; do
        [ ! -e "$work/etc/$file" ] || mount --bind "$work/etc/$file" "/etc/$file" || exit 1
      done
      while :; do
        dockerd --data-root "$work/data" --exec-root "$work/exec" --pidfile "$work/pid" \
          --host "unix://$work/docker.sock" --cgroup-parent "$groups" \
          --exec-opt native.cgroupdriver=cgroupfs --config-file "$work/daemon.json" "$@" \
          >>"$work/log" 2>&1
        while [ -e "$work/held" ]; do sleep 0.1; done
        [ -e "$work/again" ] || exit
        rm -f "$work/again"
      done
      """;

  /** Podman has no engine, but a service that speaks as one. */
  private static final String START_PODMAN =
      """
      work=$1
      ip link set lo up
      export CONTAINERS_STORAGE_CONF="$work/storage.conf" CONTAINERS_CONF="$work/containers.conf"
      podman system service --time=0 "unix://$work/docker.sock" >>"$work/log" 2>&1
      """;

  private static final String STORAGE =
      """
      [storage]
      driver = "overlay"
      runroot = "WORK/run"
      graphroot = "WORK/graph"
      """;

  /** A hard limit of descriptors below Podman's own default would make every start fail. */
  private static final String CONTAINERS =
      """
      [containers]
      default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
      [engine]
      cgroup_manager = "cgroupfs"
      runtime = "runc"
      events_logger = "file"
      lock_type = "file"
      tmp_dir = "WORK/tmp"
      static_dir = "WORK/static"
      volume_path = "WORK/volumes"
      [network]
      network_config_dir = "WORK/networks"
      """;

  /** Whose name cannot be chosen. */
  private static final String PODMANS_GROUPS = "libpod_parent";

  private static @Nullable OwnEngine shared;

  private final Path work;
  private final String groups;
  private final List<String> options;
  private final String script;
  private final Set<Path> before = new HashSet<>();
  private @Nullable Process engine;

  /** For JUnit, which makes one per class; the engine is the one of {@link #shared()}. */
  OwnEngine() {
    work = Path.of("/nowhere");
    groups = "";
    options = List.of();
    script = "";
  }

  private OwnEngine(Path work, String script, String groups, List<String> options) {
    this.work = work;
    this.script = script;
    this.groups = groups;
    this.options = options;
    this.before.addAll(controlGroups());
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    refuseWhereItMayNot();
    shared =
        context
            .getRoot()
            .getStore(HERE)
            .computeIfAbsent(OwnEngine.class, key -> start(true), OwnEngine.class);
  }

  /** Returns the one that the extension started. */
  static OwnEngine shared() {
    OwnEngine one = shared;
    if (one == null) {
      throw new IllegalStateException("the test class is not extended with OwnEngine");
    }
    return one;
  }

  static void refuseWhereItMayNot() {
    refuseWithout("dockerd", "containerd", "unshare", "ip");
  }

  private static void refuseWithout(String... programs) {
    if (!Users.areRanges()) {
      Assumptions.abort("NOT RUN: an engine of its own needs root");
    }
    for (String program : programs) {
      if (HostProgram.find(program).isEmpty()) {
        Assumptions.abort("NOT RUN: " + program + " is not installed");
      }
    }
  }

  /**
   * Starts one and returns when it answers.
   *
   * @param remaps whether root of its containers is nobody on the host
   */
  static OwnEngine start(boolean remaps, String... options) {
    try {
      Path work = Scratch.make("isola-eng").path(); // users that it remaps pass through it
      List<String> all = new ArrayList<>(List.of(options));
      if (remaps) {
        plantUsers(work);
        all.add("--userns-remap=isolaremap");
      }
      Files.writeString(work.resolve("daemon.json"), daemonConfig());
      return started(new OwnEngine(work, START, "isola-own-engine-" + work.getFileName(), all));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts Podman's service in the same way. */
  static OwnEngine startPodman() {
    refuseWithout("podman", "conmon", "runc", "unshare", "ip");
    try {
      Path work = Scratch.make("isola-eng").path();
      Files.writeString(work.resolve("storage.conf"), STORAGE.replace("WORK", work.toString()));
      Files.writeString(
          work.resolve("containers.conf"), CONTAINERS.replace("WORK", work.toString()));
      return started(new OwnEngine(work, START_PODMAN, PODMANS_GROUPS, List.of()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static OwnEngine started(OwnEngine own) throws IOException {
    try {
      own.start();
      return own;
    } catch (RuntimeException | IOException e) {
      e.addSuppressed(new IllegalStateException(own.log()));
      own.close();
      throw e;
    }
  }

  /** With gVisor, where it is there, and one runtime that is not what its name promises. */
  private static String daemonConfig() {
    String gvisor =
        HostProgram.find("runsc").isEmpty()
            ? ""
            : "\"runsc\": {\"path\": \"runsc\", \"runtimeArgs\": [\"--network=none\","
                + " \"--platform=ptrace\"]}, ";
    return "{\"runtimes\": {" + gvisor + "\"liar\": {\"path\": \"runc\"}}}";
  }

  private static void plantUsers(Path work) throws IOException {
    Path etc = Files.createDirectory(work.resolve("etc"));
    Files.writeString(
        etc.resolve("passwd"),
        Files.readString(Path.of("/etc/passwd")) + "isolaremap:x:64999:64999::/:/bin/false\n");
    Files.writeString(
        etc.resolve("group"), Files.readString(Path.of("/etc/group")) + "isolaremap:x:64999:\n");
    Files.writeString(etc.resolve("subuid"), "isolaremap:1000000000:65536\n");
    Files.writeString(etc.resolve("subgid"), "isolaremap:1000000000:65536\n");
  }

  /** Starts it, again after it was stopped. */
  void start() throws IOException {
    List<String> words =
        new ArrayList<>(
            List.of(
                "unshare",
                "--pid",
                "--fork",
                "--kill-child",
                "--mount-proc",
                "--net",
                "sh",
                "-c",
                script,
                "sh",
                work.toString(),
                groups));
    words.addAll(options);
    Process started =
        new ProcessBuilder(words)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    engine = started;
    Awaitility.await("the engine answers: " + log())
        .atMost(PATIENCE)
        .failFast("the engine ended", () -> !started.isAlive())
        .until(() -> Files.exists(work.resolve("docker.sock")) && answers());
  }

  private boolean answers() {
    try (Engine asked = engine()) {
      asked.version();
      return true;
    } catch (RuntimeException notYet) {
      return false;
    }
  }

  /** Returns the last that it wrote. */
  String log() {
    try {
      String all = Files.readString(work.resolve("log"));
      return all.substring(Math.max(0, all.length() - 2000));
    } catch (IOException none) {
      return "";
    }
  }

  String host() {
    return "unix://" + work.resolve("docker.sock");
  }

  /** Returns a client of it. */
  Engine engine() {
    return new Engine(new EngineHttp(EngineAddresses.parse(host())));
  }

  /** Ends the daemon, as an upgrade does, and leaves its place empty until {@link #comeBack()}. */
  void goAway() throws IOException {
    Files.writeString(work.resolve("held"), "");
    Files.writeString(work.resolve("again"), "");
    daemon().forEach(ProcessHandle::destroy);
    Awaitility.await("the daemon ends").atMost(PATIENCE).until(() -> daemon().isEmpty());
  }

  void comeBack() throws IOException {
    Files.delete(work.resolve("held"));
    Awaitility.await("the engine answers again").atMost(PATIENCE).until(this::answers);
  }

  private List<ProcessHandle> daemon() {
    return ProcessHandle.allProcesses()
        .filter(
            process ->
                commandLine(process).startsWith("dockerd\0--data-root\0" + work)
                    || commandLine(process).endsWith("unix://" + work + "/docker.sock\0"))
        .toList();
  }

  /** Stops it as a system would: what it runs ends with it. */
  void stop() {
    Process running = engine;
    if (running == null) {
      return;
    }
    engine = null;
    try {
      daemon().forEach(ProcessHandle::destroy);
      if (!running.waitFor(30, TimeUnit.SECONDS)) {
        // Process 1 of its pid namespace: whatever it started ends with it.
        running.children().forEach(ProcessHandle::destroyForcibly);
      }
      running.destroyForcibly();
      running.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    stop();
    removeGroups(controlGroups());
    Scratch.remove(work);
    Awaitility.await("nothing is left of the engine")
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(() -> assertThat(census()).isEmpty());
  }

  /** Returns what is there of it: processes, mounts, control groups, its folder. */
  List<String> census() {
    List<String> found = new ArrayList<>();
    ProcessHandle.allProcesses()
        .filter(process -> commandLine(process).contains(work.toString()))
        .forEach(process -> found.add("process " + process.pid()));
    try (Stream<String> mounts = Files.lines(Path.of("/proc/self/mountinfo"))) {
      mounts.filter(line -> line.contains(work.toString())).forEach(found::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    controlGroups().forEach(group -> found.add("control group " + group));
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

  /**
   * Returns the engine's control groups and what is in them, but for what others had there. An
   * engine makes them beneath its own group in some hierarchies, so they are looked for everywhere.
   */
  private List<Path> controlGroups() {
    List<Path> found = new ArrayList<>();
    descend(Path.of("/sys/fs/cgroup"), false, found);
    found.removeAll(before);
    return found;
  }

  private void descend(Path folder, boolean ours, List<Path> found) {
    try (Stream<Path> entries = Files.list(folder)) {
      for (Path entry : entries.filter(one -> Files.isDirectory(one, NOFOLLOW_LINKS)).toList()) {
        boolean its = ours || entry.endsWith(groups);
        if (its) {
          found.add(entry);
        }
        descend(entry, its, found);
      }
    } catch (IOException | UncheckedIOException gone) {
      // What was found until then is told.
    }
  }

  /** Of groups within groups, the inner ones first. */
  private static void removeGroups(List<Path> groups) {
    for (Path group : groups.stream().sorted(Comparator.reverseOrder()).toList()) {
      try {
        Files.deleteIfExists(group);
      } catch (IOException held) {
        // The census tells.
      }
    }
  }
}
