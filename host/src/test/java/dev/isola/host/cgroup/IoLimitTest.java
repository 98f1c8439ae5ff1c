package dev.isola.host.cgroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.host.cgroup.CgroupFixture.Variant;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.ResourceLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** I/O limits of a sandbox. */
final class IoLimitTest {
  private static final long MEGABYTE = 1 << 20;

  @TempDir Path folder;

  /** The minimum duration under the kernel's limit, regardless of other load. */
  @Test
  void directWritesAreThrottled() throws Exception {
    Optional<String> disk = IoLimit.disk(folder);
    assumeTrue(disk.isPresent(), "NOT RUN: " + folder + " is not on a disk");
    IoLimit limit = new IoLimit(disk.get(), MEGABYTE, 0);
    try (CgroupFixture fixture = new CgroupFixture(Variant.ALL_HIERARCHIES)) {
      Optional<String> obstacle = fixture.machine.obstacle(limit);
      assumeTrue(obstacle.isEmpty(), "NOT RUN: " + obstacle);
      fixture.group.create(ResourceLimits.DEFAULT);
      fixture.group.limitIo(limit);
      long begin = System.nanoTime();
      Process writer =
          fixture.start(
              fixture.group,
              "exec dd if=/dev/zero of=\"$1\" bs=64k count=48 oflag=direct",
              folder.resolve("file").toString());
      assertThat(writer.waitFor()).isZero();
      assertThat(Duration.ofNanos(System.nanoTime() - begin))
          .as("3 MB at 1 MB in a second")
          .isGreaterThan(Duration.ofSeconds(1));
      assertThat(fixture.group.joinFiles()).isNotEmpty();
    }
  }

  @Test
  void groupsOfVersion2GetOneLine() throws IOException {
    Hierarchy hierarchy = new Hierarchy(true, folder, folder, Set.of("io"));
    CgroupLocation place = new CgroupLocation(hierarchy, folder, Set.of(), true);
    ControlGroups machine = new ControlGroups(List.of(hierarchy), List.of(place));
    Files.writeString(folder.resolve("cgroup.controllers"), "io");
    Files.writeString(folder.resolve("cgroup.subtree_control"), "io");
    Path group = Files.createDirectory(folder.resolve("isola-here-one"));
    Files.writeString(group.resolve("io.max"), "");
    machine
        .group(new InstanceId("here"), new SandboxId("one"))
        .limitIo(new IoLimit("8:0", MEGABYTE, 0));
    assertThat(KernelFile.read(group.resolve("io.max")))
        .isEqualTo("8:0 rbps=1048576 wbps=1048576 riops=max wiops=max");
  }

  @Test
  void missingControllerIsReported() {
    ControlGroups none = ControlGroups.parse("", "", path -> "");
    assertThat(none.obstacle(new IoLimit("8:0", MEGABYTE, 0)))
        .hasValueSatisfying(why -> assertThat(why).contains("controller io"));
  }

  @Test
  void partitionResolvesToItsDisk() throws IOException {
    Path disk = Files.createDirectories(folder.resolve("block/sda"));
    Path partition = Files.createDirectory(disk.resolve("sda1"));
    Files.writeString(disk.resolve("dev"), "8:0\n");
    Files.writeString(partition.resolve("dev"), "8:1\n");
    Files.writeString(partition.resolve("partition"), "1\n");
    Path devices = Files.createDirectory(folder.resolve("devices"));
    Files.createSymbolicLink(devices.resolve("8:0"), disk);
    Files.createSymbolicLink(devices.resolve("8:1"), partition);
    assertThat(IoLimit.disk(8 << 8 | 1, devices)).contains("8:0");
    assertThat(IoLimit.disk(8 << 8, devices)).contains("8:0");
    assertThat(IoLimit.disk(0x31, devices)).as("a file system on no disk").isEmpty();
  }
}
