package dev.isola.host.cgroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.InstanceId;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.ResourceLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The files of version 2, in an ordinary folder in place of the hierarchy: checks what is written,
 * not what the kernel does with it. {@link ControlGroupTest} does that on a host with version 2
 * controllers.
 */
class CgroupV2FilesTest {
  private static final ResourceLimits LIMITS =
      ResourceLimits.DEFAULT.withCpu(1.5).withMemoryMb(64).withThreads(24);

  @TempDir Path mount;
  private Path folder = Path.of("");
  private ControlGroup group = ControlGroups.parse("", "", path -> "").group(name(), id());

  private static InstanceId name() {
    return new InstanceId("here");
  }

  private static SandboxId id() {
    return new SandboxId("one");
  }

  @BeforeEach
  void createHierarchyFolder() throws IOException {
    Hierarchy hierarchy = new Hierarchy(true, mount, mount, Set.of("cpu", "memory", "pids"));
    CgroupLocation place =
        new CgroupLocation(
            hierarchy, mount, Set.of(LimitKind.CPU, LimitKind.MEMORY, LimitKind.THREADS), true);
    group = new ControlGroups(List.of(hierarchy), List.of(place)).group(name(), id());
    folder = Files.createDirectory(mount.resolve("isola-here-one"));
    file("cpu.max", "");
    file("memory.max", "");
    file("memory.swap.max", "");
    file("memory.oom.group", "0");
    file("pids.max", "");
    file("cgroup.procs", "");
    file("cgroup.freeze", "");
    file("cgroup.events", "populated 0\nfrozen 0\n");
  }

  private void file(String name, String text) throws IOException {
    Files.writeString(folder.resolve(name), text);
  }

  private String text(String name) {
    return KernelFile.read(folder.resolve(name));
  }

  @Test
  void createWritesLimits() throws IOException {
    group.create(LIMITS);
    assertThat(text("cpu.max")).isEqualTo("150000 100000");
    assertThat(text("memory.max")).isEqualTo("67108864");
    assertThat(text("memory.swap.max")).isEqualTo("0");
    assertThat(text("memory.oom.group")).as("one that is killed is not all").isEqualTo("0");
    assertThat(text("pids.max")).isEqualTo("" + (24 + ControlGroup.AGENT_THREADS));
    assertThat(group.joinFiles()).containsExactly(folder.resolve("cgroup.procs"));
  }

  @Test
  void swapLimitIsSkippedWithoutSwapSupport() throws IOException {
    Files.delete(folder.resolve("memory.swap.max"));
    group.create(LIMITS);
    assertThat(folder.resolve("memory.swap.max")).doesNotExist();
    assertThat(text("memory.max")).isEqualTo("67108864");
  }

  @Test
  void cpuQuotaIsAtLeastTheKernelMinimum() throws IOException {
    group.create(LIMITS.withCpu(0.0001));
    assertThat(text("cpu.max")).isEqualTo("1000 100000");
  }

  @Test
  void withdrawnControllerIsEnabledAgain() throws IOException {
    Files.writeString(mount.resolve("cgroup.controllers"), "cpu memory pids");
    Files.writeString(mount.resolve("cgroup.subtree_control"), "cpu memory");
    Files.delete(folder.resolve("pids.max"));
    assertThatThrownBy(() -> group.create(LIMITS)).hasMessageContaining("pids.max");
    assertThat(Files.readString(mount.resolve("cgroup.subtree_control"))).startsWith("+pids");
    assertThat(folder).as("it was there before").isDirectory();
  }

  @Test
  void usageIsReadFromV2Files() throws IOException {
    file("cpu.stat", "usage_usec 1500000\nuser_usec 1000000\n");
    file("memory.current", "5000000\n");
    file("memory.stat", "anon 1\nfile 9\ninactive_file 2000000\nactive_file 1\n");
    file("memory.peak", "9000000\n");
    file("cgroup.procs", "41\n0\n42\n");
    assertThat(group.usage())
        .isEqualTo(new CgroupUsage(Duration.ofMillis(1500), 3_000_000, 9_000_000, 2));
  }

  @Test
  void outOfMemoryKillsAreCounted() throws IOException {
    assertThat(group.memoryEvents()).isEmpty();
    assertThat(group.outOfMemoryKills()).isZero();
    file("memory.events", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n");
    file("pids.events", "max 0\n");
    assertThat(group.memoryEvents()).contains(folder.resolve("memory.events"));
    assertThat(group.processEvents()).contains(folder.resolve("pids.events"));
    assertThat(group.outOfMemoryKills()).isEqualTo(2);
  }

  @Test
  void freezeTimeoutThawsTheGroup() {
    assertThatThrownBy(() -> group.freeze(Duration.ofMillis(20)))
        .isInstanceOf(IOException.class)
        .hasMessage("isola-here-one has a process that could not be frozen within 20 ms");
    assertThat(text("cgroup.freeze")).isEqualTo("0");
  }
}
