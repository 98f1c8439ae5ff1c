package dev.isola.provider.microvm.firecracker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.host.image.ImageStore;
import dev.isola.host.launch.HostProgram;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.link.InstalledProgram;
import dev.isola.link.local.LocalProvider;
import dev.isola.provider.microvm.MachineHost;
import dev.isola.provider.microvm.firecracker.StubFaults.Kind;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The whole provider with a stub instead of Firecracker. The agent is real, but runs on the host:
 * this shows how machines are started, reached and ended, not that they isolate.
 */
class FirecrackerProviderWithStubTest {
  private static final List<String> MODULES = List.of("virtio_blk", "erofs", "overlay", "ext4");

  private final TemporaryFolder scratch = TemporaryFolder.create("fc-");
  private final Path data = scratch.path().resolve("d");
  private final ProviderContext context =
      new ProviderContext(new InstanceId("fcstub"), data, Clock.systemUTC());
  private final Map<String, String> settings = new HashMap<>();
  private final StubProgram stub;
  private Provider provider;

  FirecrackerProviderWithStubTest() throws IOException {
    for (String program : MachineHost.DISK_PROGRAMS) {
      assumeThat(HostProgram.find(program)).as("NOT RUN: no " + program).isPresent();
    }
    Files.createDirectories(data);
    Path agent = InstalledProgram.agent(scratch.path().resolve("agent")).path();
    stub =
        StubProgram.install(Files.createDirectory(scratch.path().resolve("b")), agent.toString());
    settings.put(FirecrackerProgram.SETTING, stub.firecracker().toString());
    settings.put("kernel", kernel().toString());
    Path root = Files.createDirectory(scratch.path().resolve("root"));
    Files.createDirectory(root.resolve("etc"));
    new ImageStore(data).importFrom("base", root);
    provider = open();
  }

  /** Creates files that look like a kernel with everything built in. */
  private Path kernel() throws IOException {
    Path modules = Files.createDirectories(scratch.path().resolve("k/lib/modules/1"));
    Files.createFile(modules.resolve("modules.order"));
    Files.write(
        modules.resolve("modules.builtin"),
        MODULES.stream().map(name -> "kernel/" + name + ".ko").toList());
    Path image = Files.createDirectories(scratch.path().resolve("k/boot")).resolve("vmlinuz-1");
    return Files.writeString(image, "a kernel");
  }

  private Provider open() throws IOException {
    Path kvm = scratch.path().resolve("kvm");
    if (!Files.exists(kvm)) {
      Files.createFile(kvm);
    }
    return new LocalProvider(
        context, new FirecrackerBooter(new ProviderConfig(settings), context, kvm));
  }

  @AfterEach
  void end() throws IOException {
    for (var item : provider.inventory()) {
      provider.destroy(item.id(), DestroyOptions.FORCE);
    }
    provider.close();
    assertThat(processes()).as("processes of machines").isEmpty();
    scratch.close();
  }

  /** Returns the processes that use the stub. */
  private List<String> processes() {
    return ProcessHandle.allProcesses()
        .map(process -> process.info().commandLine().orElse(""))
        .filter(line -> line.contains(scratch.path().toString()) && line.contains("Stub"))
        .toList();
  }

  private SandboxSpec spec(String id) throws IOException {
    Path workspace = Files.createDirectories(scratch.path().resolve("w-" + id));
    return SandboxSpec.builder(new SandboxId(id)).workspaceMount(workspace.toString()).build();
  }

  private static String run(Sandbox sandbox, String script) {
    return sandbox.run(Command.shell(script)).stdout().text().strip();
  }

  @Test
  void sandboxesContinueFromOneTemplateAndAreReachedThroughVsock() throws IOException {
    assertThat(provider.health()).isEqualTo(new Health.Healthy("Firecracker 1.16.1"));
    assertThat(provider.info().accelerated()).isTrue();
    Sandbox first = provider.create(spec("one"));
    assertThat(run(first, "echo hello")).isEqualTo("hello");
    Sandbox second = provider.create(spec("two"));
    assertThat(run(second, "echo $ISOLA_SANDBOX")).isEqualTo("two");
    assertThat(stub.lines())
        .noneMatch(line -> line.contains("refused"))
        .filteredOn(line -> line.startsWith("PUT /snapshot/create"))
        .as("templates")
        .hasSize(1);
    assertThat(stub.lines().stream().filter(line -> line.startsWith("PUT /actions")))
        .as("boots: the probe and the template")
        .hasSize(2);
    assertThat(stub.lines()).noneMatch(line -> line.contains(scratch.path().toString()));
    provider.destroy(new SandboxId("one"), DestroyOptions.NORMAL);
    assertThat(data.resolve("sandboxes/one")).doesNotExist();
    assertThat(run(second, "echo still here")).isEqualTo("still here");
  }

  @Test
  void anotherServerFindsTheSandbox() throws IOException {
    run(provider.create(spec("one")), "true");
    provider.close();
    provider = open();
    Sandbox found = provider.attach(new SandboxId("one")).orElseThrow();
    assertThat(run(found, "echo again")).isEqualTo("again");
  }

  @Test
  void stoppedSandboxStartsAgainInTheSameJail() throws IOException {
    Sandbox sandbox = provider.create(spec("one"));
    Pausing pausing = sandbox.as(Pausing.class).orElseThrow();
    pausing.pause(Pausing.PauseKind.FILESYSTEM);
    assertThat(sandbox.state()).isNotEqualTo(SandboxState.RUNNING);
    pausing.resume();
    assertThat(run(sandbox, "echo back")).isEqualTo("back");
    assertThat(stub.lines()).noneMatch(line -> line.contains("refused"));
  }

  @Test
  void machineWhoseSnapshotIsRefusedLeavesNothingBehind() throws IOException {
    assertThat(provider.health()).isInstanceOf(Health.Healthy.class);
    stub.fault(
        "PUT /snapshot/load",
        Kind.ANSWER,
        StubFaults.response(400, "{\"fault_message\":\"wrong version\"}"));
    assertThatThrownBy(() -> provider.create(spec("one")))
        .isInstanceOf(SandboxException.class)
        .hasMessageContaining(
            "Firecracker refused PUT /snapshot/load with status 400: wrong version");
    assertNothingLeft();
  }

  @Test
  void machineThatExitsWhileItStartsLeavesNothingBehind() throws IOException {
    assertThat(provider.health()).isInstanceOf(Health.Healthy.class);
    stub.fault("PATCH /vm", Kind.EXIT, "9");
    assertThatThrownBy(() -> provider.create(spec("one"))).isInstanceOf(SandboxException.class);
    assertNothingLeft();
  }

  private void assertNothingLeft() throws IOException {
    assertThat(provider.inventory()).isEmpty();
    assertThat(processes()).isEmpty();
    for (String folder : List.of("sandboxes", "run")) {
      if (Files.exists(data.resolve(folder))) {
        try (Stream<Path> left = Files.list(data.resolve(folder))) {
          assertThat(left).as(folder).isEmpty();
        }
      }
    }
  }

  @Test
  void machineThatDoesNotBootMakesTheProviderUnhealthy() throws IOException {
    stub.fault("PUT /entropy", Kind.EXIT, "7");
    Health.Unhealthy health = (Health.Unhealthy) provider.health();
    assertThat(health.reason())
        .startsWith("a machine did not boot within 8 s, although /dev/kvm exists")
        .contains("Firecracker did not answer PUT /entropy");
    assertThat(health.fix()).contains("qemu, which works without KVM");
    List<String> tried = stub.lines();
    assertThat(provider.health()).isEqualTo(health);
    assertThat(stub.lines()).as("the answer is remembered").isEqualTo(tried);
    assertNothingLeft();
  }

  @Test
  void missingPartsAreReportedBeforeAnythingIsTried() throws IOException {
    settings.put("kernel", scratch.path().resolve("none/vmlinuz-1").toString());
    provider.close();
    provider = open();
    assertThat(((Health.Unhealthy) provider.health()).reason()).startsWith("guest kernel: ");
    if (SandboxUserIds.rangesAvailable()) {
      Files.delete(stub.jailer());
      assertThat(((Health.Unhealthy) provider.health()).reason())
          .isEqualTo("jailer: not installed");
    }
    Files.delete(stub.firecracker());
    assertThat(((Health.Unhealthy) provider.health()).reason())
        .isEqualTo("firecracker: not installed");
    Files.delete(scratch.path().resolve("kvm"));
    assertThat(((Health.Unhealthy) provider.health()).reason()).endsWith("kvm: does not exist");
    assertThat(stub.lines()).isEmpty();
  }
}
