package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.Cgroups.Controller;
import dev.isola.app.Cgroups.Layout;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CgroupsTest {
  @Test
  void readsVersion1() {
    Cgroups cgroups =
        Cgroups.parse(
            """
            25 30 0:23 / /sys rw,nosuid - sysfs sysfs rw
            31 25 0:27 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd
            33 25 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct
            34 25 0:30 / /sys/fs/cgroup/memory rw,nosuid shared:10 - cgroup cgroup rw,memory
            """,
            """
            5:memory:/user.slice/me
            4:cpu,cpuacct:/
            1:name=systemd:/user.slice
            """,
            path -> "");
    assertThat(cgroups.layout()).isEqualTo(Layout.V1);
    assertThat(cgroups.controllers())
        .isEqualTo(
            Map.of(
                "memory", new Controller(1, Path.of("/sys/fs/cgroup/memory/user.slice/me")),
                "cpu", new Controller(1, Path.of("/sys/fs/cgroup/cpu,cpuacct")),
                "cpuacct", new Controller(1, Path.of("/sys/fs/cgroup/cpu,cpuacct"))));
  }

  @Test
  void readsVersion2() {
    Path mine = Path.of("/sys/fs/cgroup/user.slice/user-1000.slice");
    Cgroups cgroups =
        Cgroups.parse(
            "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
            "0::/user.slice/user-1000.slice\n",
            path -> path.equals(mine.resolve("cgroup.controllers")) ? "memory pids\n" : "");
    assertThat(cgroups.layout()).isEqualTo(Layout.V2);
    assertThat(cgroups.controllers())
        .isEqualTo(Map.of("memory", new Controller(2, mine), "pids", new Controller(2, mine)));
    assertThat(Machine.cgroups(cgroups).value()).isEqualTo("v2 (v2: memory pids), without cpu");
  }

  @Test
  void readsBothAtOnce() {
    Cgroups cgroups =
        Cgroups.parse(
            """
            32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
            35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
            41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
            """,
            """
            4:memory:/process_api/a391
            1:cpu:/
            0::/
            """,
            path -> "hugetlb pids");
    assertThat(cgroups.layout()).isEqualTo(Layout.HYBRID);
    assertThat(cgroups.controllers())
        .isEqualTo(
            Map.of(
                "cpu", new Controller(1, Path.of("/sys/fs/cgroup/cpu")),
                "memory", new Controller(1, Path.of("/sys/fs/cgroup/memory/process_api/a391")),
                "hugetlb", new Controller(2, Path.of("/sys/fs/cgroup/unified")),
                "pids", new Controller(2, Path.of("/sys/fs/cgroup/unified"))));
    assertThat(Machine.cgroups(cgroups))
        .isEqualTo(Fact.good("cgroups", "hybrid (v1: cpu memory; v2: hugetlb pids)"));
  }

  @Test
  void readsAContainersPartOfTheTree() {
    Cgroups cgroups =
        Cgroups.parse(
            """
            40 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory
            41 31 0:33 /docker/abc /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids
            42 31 0:34 /../.. /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu
            """,
            """
            3:memory:/docker/abc/inner
            2:pids:/docker/abc
            1:cpu:/../../elsewhere
            """,
            path -> "");
    assertThat(cgroups.controllers())
        .containsEntry("memory", new Controller(1, Path.of("/sys/fs/cgroup/memory/inner")))
        .containsEntry("pids", new Controller(1, Path.of("/sys/fs/cgroup/pids")));
  }

  @Test
  void findsNoneWhereThereAreNone() {
    Cgroups cgroups = Cgroups.parse("", "", path -> "");
    assertThat(cgroups).isEqualTo(new Cgroups(Layout.NONE, Map.of()));
    assertThat(Machine.cgroups(cgroups).good()).isFalse();
  }
}
