package dev.isola.provider.microvm.qemu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.conformance.UniqueResources;
import dev.isola.host.cgroup.ControlGroups;
import dev.isola.link.local.TreeRemoval;
import dev.isola.provider.microvm.MachineTestImage;
import dev.isola.provider.microvm.TestKernel;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Kills the server process and QEMU at random moments: nothing may be left after the next start.
 */
@Tag("all")
final class QemuCrashTest {
  private static final InstanceId INSTANCE = UniqueResources.instanceId("qemucrash");
  private static final int KILLS = Boolean.getBoolean("isola.long") ? 40 : 4;
  private static final int LONGEST_MS = 6000;
  private static Path data = Path.of("");

  @BeforeAll
  static void prepare() throws Exception {
    data = Files.createTempDirectory("isola");
    MachineTestImage.addTo(data);
    try (Provider provider = open(data)) {
      assumeTrue(provider.health().usable(), () -> "NOT RUN: " + provider.health());
    }
  }

  /** A test that failed has left machines, which outlive the test process. */
  @AfterAll
  static void cleanUp() throws IOException {
    destroyAll();
    TreeRemoval.remove(data);
  }

  private static Provider open(InstanceId instance, Path folder) {
    return new QemuProviderFactory()
        .create(TestKernel.config(), new ProviderContext(instance, folder, InstantSource.system()));
  }

  private static Provider open(Path folder) {
    return open(INSTANCE, folder);
  }

  private static SandboxSpec spec(String id) {
    ResourceLimits limits = ResourceLimits.DEFAULT.withMemoryMb(128);
    return SandboxSpec.builder(new SandboxId(id)).limits(limits).build();
  }

  /**
   * What the process that is killed does: it creates, forks and destroys sandboxes. It is a server
   * of the same installation, whose id it is given: sandboxes of another one are never touched.
   */
  public static void main(String[] arguments) {
    try (Provider provider = open(new InstanceId(arguments[0]), Path.of(arguments[1]))) {
      for (int i = 0; ; i++) {
        Sandbox sandbox = provider.create(spec(arguments[2] + "n" + i));
        sandbox.run(Command.shell("echo $$ >file"), OutputLimit.DEFAULT);
        try (MemoryForking.MemoryForkPoint point =
            sandbox.as(MemoryForking.class).orElseThrow().createForkPoint()) {
          Sandbox fork = point.create(spec(arguments[2] + "f" + i));
          provider.destroy(fork.id(), DestroyOptions.NORMAL);
        }
        provider.destroy(sandbox.id(), DestroyOptions.NORMAL);
      }
    }
  }

  @Test
  void killedServerLeavesNothingAfterRecovery() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed of the kills: " + seed);
    Random random = new Random(seed);
    for (int i = 0; i < KILLS; i++) {
      Process server =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin/java").toString(),
                  "-cp",
                  System.getProperty("java.class.path"),
                  QemuCrashTest.class.getName(),
                  INSTANCE.value(),
                  data.toString(),
                  "r" + i)
              .redirectErrorStream(true)
              .redirectOutput(data.resolve("output").toFile())
              .start();
      boolean ended = server.waitFor(1000 + random.nextInt(LONGEST_MS), TimeUnit.MILLISECONDS);
      assertThat(ended).as(Files.readString(data.resolve("output"))).isFalse();
      server.destroyForcibly().waitFor();
      recover();
      assertThat(leftovers()).as("round %d of seed %d", i, seed).isEmpty();
    }
  }

  private static void recover() {
    try (Provider provider = open(data)) {
      assertThat(provider.health().usable()).isTrue();
    }
    destroyAll();
  }

  private static void destroyAll() {
    try (Provider provider = open(data)) {
      for (InventoryItem item : provider.inventory()) {
        provider.destroy(item.id(), DestroyOptions.NORMAL);
      }
    }
  }

  @Test
  void killedMachineIsGoneAndLeavesNothing() throws Exception {
    try (Provider provider = open(data)) {
      Sandbox sandbox = provider.create(spec("killed"));
      List<ProcessHandle> machines = machines();
      assertThat(machines).hasSize(1);
      machines.forEach(ProcessHandle::destroyForcibly);
      assertThat(machines.getFirst().onExit().get(10, TimeUnit.SECONDS)).isNotNull();
      org.assertj.core.api.Assertions.assertThatThrownBy(
              () -> sandbox.run(Command.shell("true"), OutputLimit.DEFAULT))
          .isInstanceOf(SandboxException.class);
      provider.destroy(sandbox.id(), DestroyOptions.NORMAL);
    }
    assertThat(leftovers()).isEmpty();
  }

  @Test
  void machineThatAKilledServerHasStoppedContinues() throws Exception {
    SandboxId id = new SandboxId("stopped");
    try (Provider killed = open(data)) {
      killed.create(spec("stopped"));
      Path control = data.resolve("sandboxes/stopped/control");
      try (Qmp qmp = Qmp.connect(control)) {
        qmp.execute("stop", java.util.Map.of(), java.time.Duration.ofSeconds(5));
      }
    }
    try (Provider next = open(data)) {
      Sandbox sandbox = next.attach(id).orElseThrow();
      assertThat(sandbox.run(Command.shell("echo works"), OutputLimit.DEFAULT).stdout().text())
          .isEqualTo("works\n");
      next.destroy(id, DestroyOptions.NORMAL);
    }
    assertThat(leftovers()).isEmpty();
  }

  /** Planted: a machine that no server knows is found. */
  @Test
  void leftoversAreFound() throws Exception {
    Path planted = Files.createDirectories(data.resolve("run/1-1-00"));
    try {
      assertThat(leftovers()).containsExactly(planted.toString());
    } finally {
      Files.delete(planted);
    }
  }

  private static List<String> leftovers() throws IOException {
    List<String> left = new ArrayList<>();
    machines().forEach(process -> left.add("process " + process.pid()));
    for (String name : List.of("sandboxes", "run", "saved")) {
      list(data.resolve(name), "*", left);
    }
    for (String name : List.of("templates", "disks", "boot")) {
      list(data.resolve(name), "*.unfinished", left);
    }
    ControlGroups.ofHost()
        .sandboxes()
        .getOrDefault(INSTANCE, java.util.Set.of())
        .forEach(id -> left.add("control group of " + id));
    return left;
  }

  private static void list(Path folder, String glob, List<String> left) throws IOException {
    if (Files.isDirectory(folder)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, glob)) {
        files.forEach(file -> left.add(file.toString()));
      }
    }
  }

  /** Returns the processes of QEMU that use the data folder. */
  private static List<ProcessHandle> machines() throws IOException {
    List<ProcessHandle> found = new ArrayList<>();
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[1-9]*")) {
      for (Path process : processes) {
        if (isMachine(process)) {
          ProcessHandle.of(Long.parseLong(process.getFileName().toString())).ifPresent(found::add);
        }
      }
    }
    return found;
  }

  private static boolean isMachine(Path process) {
    try {
      String words = Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1);
      String environment =
          Files.readString(process.resolve("environ"), StandardCharsets.ISO_8859_1);
      return words.contains("virtserialport")
          && (words.contains(data.toString())
              || environment.contains("ISOLA_INSTANCE=" + INSTANCE.value() + "\0"));
    } catch (IOException gone) {
      return false;
    }
  }
}
