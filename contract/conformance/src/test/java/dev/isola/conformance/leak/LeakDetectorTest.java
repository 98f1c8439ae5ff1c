package dev.isola.conformance.leak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.io.FileOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Creates a leak of each kind, expects the detector to find it, and removes it again. */
class LeakDetectorTest {
  private final InstanceId instance =
      new InstanceId(SandboxId.random(RandomGenerator.getDefault()).value());
  private final InstanceId other =
      new InstanceId(SandboxId.random(RandomGenerator.getDefault()).value());
  @TempDir Path data;
  @TempDir Path otherData;

  /** An action that may fail like a command-line tool. */
  private interface Action {
    void run() throws IOException, InterruptedException;
  }

  /**
   * Creates a leak, scans, removes it and scans again. The test is not run if this machine does not
   * allow such a leak.
   */
  private void expectFound(String expected, Action create, Action remove)
      throws IOException, InterruptedException {
    LeakDetector detector = new LeakDetector(instance, data);
    LeakDetector otherDetector = new LeakDetector(other, otherData);
    ResourceScan before = detector.scan();
    create.run();
    List<String> leaked;
    List<TrackedResource> others;
    try {
      leaked = ResourceScan.difference(before, detector.scan());
      others = otherDetector.scan().resources();
    } finally {
      remove.run();
    }
    assertThat(leaked).singleElement().asString().contains(expected);
    assertThat(others).isEmpty();
    assertThat(detector.leakedSince(before)).isEmpty();
  }

  private static void orNotRun(Action create, String what) throws InterruptedException {
    try {
      create.run();
    } catch (IOException e) {
      Assumptions.abort("NOT RUN: this machine does not allow to " + what + ": " + e.getMessage());
    }
  }

  private static void command(String... command) throws IOException, InterruptedException {
    output(command);
  }

  private static String output(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try {
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IOException(String.join(" ", command) + ": " + output.strip());
      }
      return output.strip();
    } finally {
      close(process);
    }
  }

  /**
   * The JVM closes the pipes some time after the process ends; the next scan must not see some of
   * them.
   */
  private static void close(Process process) throws IOException, InterruptedException {
    process.destroyForcibly().waitFor();
    process.getOutputStream().close();
    process.getInputStream().close();
    process.getErrorStream().close();
  }

  @Test
  void reportsNothingWithoutALeak() {
    LeakDetector detector = new LeakDetector(instance, data);
    ResourceScan before = detector.scan();
    assertThat(before.resources()).isEmpty();
    assertThat(detector.leakedSince(before)).isEmpty();
  }

  @Test
  void processLabeledInItsEnvironment() throws IOException, InterruptedException {
    ProcessBuilder command = new ProcessBuilder("sleep", "300");
    command.environment().put("ISOLA_SANDBOX", "planted");
    command.environment().put("ISOLA_INSTANCE", instance.value());
    processFound(command, "(sleep 300), a command of sandbox planted");
  }

  @Test
  void processLabeledOnItsCommandLine() throws IOException, InterruptedException {
    ProcessBuilder agent =
        new ProcessBuilder(
            "sh", "-c", "read x", "agent", "--instance", instance.value(), "--sandbox", "planted");
    processFound(agent, "an agent or supervisor of sandbox planted");
  }

  @Test
  void processWithAWorkingFolderInTheDataFolder() throws IOException, InterruptedException {
    ProcessBuilder command = new ProcessBuilder("sleep", "300").directory(data.toFile());
    command.environment().clear();
    processFound(command, "(sleep 300), in " + data);
  }

  private void processFound(ProcessBuilder command, String expected)
      throws IOException, InterruptedException {
    LeakDetector detector = new LeakDetector(instance, data);
    ResourceScan before = detector.scan();
    Process process = command.start();
    List<String> leaked;
    try {
      leaked = ResourceScan.difference(before, detector.scan());
      assertThat(leaked)
          .anySatisfy(line -> assertThat(line).contains("process " + process.pid(), expected))
          .allSatisfy(line -> assertThat(line).containsAnyOf("process ", "pipes of this JVM"));
      assertThat(new LeakDetector(other, otherData).scan().resources()).isEmpty();
    } finally {
      close(process);
    }
    assertThat(detector.leakedSince(before)).isEmpty();
  }

  @Test
  void globalScanIncludesEveryInstance() throws IOException, InterruptedException {
    ProcessBuilder command = new ProcessBuilder("sleep", "300");
    command.environment().put("ISOLA_SANDBOX", "planted" + instance);
    Process process = command.start();
    try {
      assertThat(ResourceScan.scan().resources())
          .anySatisfy(thing -> assertThat(thing.description()).contains("planted" + instance));
    } finally {
      close(process);
    }
  }

  @Test
  void folder() throws IOException, InterruptedException {
    Path folder = data.resolve("sandboxes/planted");
    expectFound(
        "folder " + folder,
        () -> Files.createDirectories(folder),
        () -> {
          Files.delete(folder);
          Files.delete(folder.getParent());
        });
  }

  @Test
  void folderOfAProviderInAnInstallation() throws IOException, InterruptedException {
    Path folder = data.resolve("provider/sandboxes/planted");
    expectFound("folder " + folder, () -> Files.createDirectories(folder), () -> Files.delete(folder));
  }

  @Test
  void unixSocket() throws IOException, InterruptedException {
    Path path = data.resolve("agent");
    ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    expectFound(
        "unix socket " + path, () -> socket.bind(UnixDomainSocketAddress.of(path)), socket::close);
  }

  @Test
  void descriptorIntoTheFolder() throws IOException, InterruptedException {
    FileOutputStream[] open = new FileOutputStream[1];
    expectFound(
        "of this JVM: " + data.resolve("file"),
        () -> open[0] = new FileOutputStream(data.resolve("file").toFile()),
        () -> open[0].close());
  }

  /** A socket whose owner lives is not a leak. */
  @Test
  void launcherSocketOfADeadProcess() throws IOException, InterruptedException {
    Path programs = Files.createDirectories(data.resolve("bin"));
    Path ours = programs.resolve("launch-" + ProcessHandle.current().pid() + "-1");
    Path left = programs.resolve("launch-" + (1L << 30) + "-1"); // greater than any pid
    try (ServerSocketChannel one = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      one.bind(UnixDomainSocketAddress.of(ours));
      ServerSocketChannel other = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      LeakDetector detector = new LeakDetector(instance, data);
      assertThat(detector.scan().resources()).isEmpty();
      expectFound(
          "unix socket " + left, () -> other.bind(UnixDomainSocketAddress.of(left)), other::close);
    }
  }

  @Test
  void socketOfThisJvm() throws IOException, InterruptedException {
    // The JVM keeps additional descriptors once it has opened the first one.
    SocketChannel.open(StandardProtocolFamily.UNIX).close();
    SocketChannel[] open = new SocketChannel[1];
    expectFound(
        "sockets of this JVM: ",
        () -> open[0] = SocketChannel.open(StandardProtocolFamily.UNIX),
        () -> open[0].close());
  }

  @Test
  void cgroup() throws IOException, InterruptedException {
    List<MountPoint> mounts = MountPoint.all();
    Path hierarchy =
        mounts.stream()
            .filter(
                mount ->
                    mount.type().equals("cgroup")
                        && List.of(mount.options().split(",")).contains("pids"))
            .findFirst()
            .or(() -> mounts.stream().filter(mount -> mount.type().equals("cgroup2")).findFirst())
            .map(mount -> Path.of(mount.path()))
            .orElse(null);
    Assumptions.assumeTrue(hierarchy != null, "NOT RUN: no cgroup hierarchy is mounted");
    Path group = hierarchy.resolve("isola-" + instance);
    expectFound(
        "cgroup " + group,
        () -> orNotRun(() -> Files.createDirectory(group), "make a cgroup"),
        () -> Files.delete(group));
  }

  @Test
  void mountInTheFolder() throws IOException, InterruptedException {
    Path point = Files.createDirectory(data.resolve("a mount"));
    expectFound(
        "mount of isola-planted (tmpfs) at " + point,
        () ->
            orNotRun(
                () -> command("mount", "-t", "tmpfs", "isola-planted", point.toString()), "mount"),
        () -> command("umount", point.toString()));
  }

  @Test
  void loopDeviceOfAFileInTheFolder() throws IOException, InterruptedException {
    Path file = Files.write(data.resolve("disk"), new byte[1 << 20]);
    List<String> device = new ArrayList<>();
    expectFound(
        "loop device loop",
        () ->
            orNotRun(
                () -> device.add(output("losetup", "--find", "--show", file.toString())),
                "loop devices"),
        () -> command("losetup", "--detach", device.getFirst()));
  }

  @Test
  void namedNetworkNamespace() throws IOException, InterruptedException {
    String name = "isola-" + instance;
    expectFound(
        "network namespace " + name,
        () ->
            orNotRun(() -> command("ip", "netns", "add", name), "make a network namespace with ip"),
        () -> command("ip", "netns", "del", name));
  }

  /** Both ends stay down, so nothing else on the machine is affected. */
  @Test
  void networkInterface() throws IOException, InterruptedException {
    Assumptions.assumeTrue(
        Files.exists(Path.of("/sys/class/net/lo")), "NOT RUN: no /sys/class/net");
    String name = "p" + instance.value().substring(0, 13);
    String alias = "isola-" + instance + "-planted";
    expectFound(
        "network interface " + name + " (" + alias + ")",
        () -> {
          orNotRun(
              () -> command("ip", "link", "add", name, "type", "veth", "peer", "name", name + "p"),
              "make an interface with ip");
          command("ip", "link", "set", "dev", name, "alias", alias);
        },
        () -> command("ip", "link", "delete", "dev", name));
  }

  @Test
  void networkNamespaceOfALabeledProcess() throws IOException, InterruptedException {
    ProcessBuilder command =
        new ProcessBuilder("unshare", "--net", "sleep", "300")
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    command.environment().put("ISOLA_SANDBOX", "planted");
    command.environment().put("ISOLA_INSTANCE", instance.value());
    LeakDetector detector = new LeakDetector(instance, data);
    Process[] process = new Process[1];
    orNotRun(() -> process[0] = command.start(), "run unshare");
    try {
      // Before that, the process is still unshare, or has failed for lack of permission.
      await()
          .until(
              () ->
                  !process[0].isAlive()
                      || detector.scan().resources().stream()
                          .anyMatch(thing -> thing.description().contains("(sleep 300)")));
      Assumptions.assumeTrue(process[0].isAlive(), "NOT RUN: unshare --net is not allowed");
      assertThat(detector.scan().resources())
          .anySatisfy(
              thing ->
                  assertThat(thing.description())
                      .contains("network namespace net:[", "of process " + process[0].pid()));
    } finally {
      close(process[0]);
    }
  }

  @Test
  void waitsForResourcesBeingReleased() throws IOException, InterruptedException {
    LeakDetector detector = new LeakDetector(instance, data);
    ResourceScan before = detector.scan();
    Path folder = Files.createDirectories(data.resolve("sandboxes/ending"));
    Thread ending =
        Thread.ofVirtual()
            .start(
                () -> {
                  // Only after a scan has seen it once.
                  await().until(() -> !ResourceScan.difference(before, detector.scan()).isEmpty());
                  folder.toFile().delete();
                });
    assertThat(detector.leakedSince(before)).isEmpty();
    ending.join();
  }

  @Test
  void descriptorsAreAllowedUpToACount() {
    ResourceScan before = new ResourceScan(List.of(), Map.of("sockets", 2));
    ResourceScan after = new ResourceScan(List.of(), Map.of("sockets", 4));
    assertThat(ResourceScan.difference(before, after))
        .containsExactly("sockets of this JVM: 2 before, 4 now");
    assertThat(ResourceScan.difference(before.allowingDescriptors(Map.of("sockets", 4)), after))
        .isEmpty();
  }
}
