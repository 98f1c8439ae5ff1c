package dev.isola.app.operate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.host.cgroup.ControlGroups;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Results of doctor on different machines. */
class MachineChecksTest {
  @Test
  void reportsMissingControllers() {
    ControlGroups groups =
        ControlGroups.parse(
            "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
            "0::/user.slice/user-1000.slice\n",
            path -> "memory pids\n");
    assertThat(MachineChecks.cgroups(groups).value())
        .isEqualTo("v2 (v2: memory pids), without cpu");
    assertThat(MachineChecks.cgroups(groups).good()).isFalse();
  }

  @Test
  void distinguishesCgroupVersions() {
    ControlGroups groups =
        ControlGroups.parse(
            """
            32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
            35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
            41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
            """,
            """
            4:memory:/service/a391
            1:cpu:/
            0::/
            """,
            path -> "hugetlb pids");
    assertThat(MachineChecks.cgroups(groups))
        .isEqualTo(DoctorCheck.good("cgroups", "hybrid (v1: cpu memory; v2: hugetlb pids)"));
  }

  @Test
  void withoutCgroupsNoLimitIsEnforced() {
    ControlGroups none = ControlGroups.parse("", "", path -> "");
    assertThat(MachineChecks.cgroups(none).good()).isFalse();
    assertThat(MachineChecks.limits(none))
        .isEqualTo(
            DoctorCheck.bad(
                "limits",
                "none of memory, cpu, threads",
                "mount the cgroup file system at /sys/fs/cgroup"));
    assertThat(MachineChecks.freezing(none).good()).isFalse();
  }

  @Test
  void deniedDeviceIsFixedByAGroup(@TempDir Path folder) throws IOException {
    assertThat(MachineChecks.permission(Files.createFile(folder.resolve("device"))))
        .contains("usermod -aG ", "log in again")
        .doesNotContain("666");
  }

  @Test
  void oldKernelLacksIdmappedOverlayMounts() {
    assertThat(KernelChecks.idmappedMounts("5.15.0-91-generic").good()).isFalse();
    assertThat(KernelChecks.idmappedMounts("5.19.0").good()).isTrue();
    assertThat(KernelChecks.idmappedMounts("6.1.0-18-amd64").good()).isTrue();
  }

  @Test
  void unsupportedArchitectureIsReportedWithTheSupportedOnes() {
    assertThat(MachineChecks.architecture("amd64"))
        .isEqualTo(DoctorCheck.good("architecture", "amd64"));
    assertThat(MachineChecks.architecture("aarch64"))
        .isEqualTo(DoctorCheck.good("architecture", "aarch64"));
    assertThat(MachineChecks.architecture("riscv64"))
        .isEqualTo(
            DoctorCheck.bad(
                "architecture",
                "riscv64 is not supported",
                "use a machine with one of: x86_64, aarch64"));
  }
}
