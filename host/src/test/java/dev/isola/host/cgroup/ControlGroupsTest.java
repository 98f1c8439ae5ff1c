package dev.isola.host.cgroup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.host.cgroup.ControlGroups.Controller;
import dev.isola.host.cgroup.ControlGroups.Layout;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Parses the kernel's tables of various hosts. */
class ControlGroupsTest {
  @Test
  void readsVersion1() {
    ControlGroups groups =
        ControlGroups.parse(
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
    assertThat(groups.layout()).isEqualTo(Layout.V1);
    assertThat(groups.controllers())
        .isEqualTo(
            Map.of(
                "memory", new Controller(1, Path.of("/sys/fs/cgroup/memory/user.slice/me")),
                "cpu", new Controller(1, Path.of("/sys/fs/cgroup/cpu,cpuacct")),
                "cpuacct", new Controller(1, Path.of("/sys/fs/cgroup/cpu,cpuacct"))));
    assertThat(groups.hierarchies())
        .as("controllers that are mounted together are one hierarchy")
        .filteredOn(Hierarchy::isUsable)
        .extracting(Hierarchy::controllers)
        .containsExactly(Set.of("memory"), Set.of("cpu", "cpuacct"));
  }

  @Test
  void readsVersion2() {
    Path mine = Path.of("/sys/fs/cgroup/user.slice/user-1000.slice");
    ControlGroups groups =
        ControlGroups.parse(
            "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
            "0::/user.slice/user-1000.slice\n",
            path -> path.equals(mine.resolve("cgroup.controllers")) ? "memory pids\n" : "");
    assertThat(groups.layout()).isEqualTo(Layout.V2);
    assertThat(groups.controllers())
        .isEqualTo(Map.of("memory", new Controller(2, mine), "pids", new Controller(2, mine)));
  }

  @Test
  void controllersOfAncestorsAreIncluded() {
    ControlGroups groups =
        ControlGroups.parse(
            "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
            "0::/user.slice/user-1000.slice/session-3.scope\n",
            path ->
                path.equals(Path.of("/sys/fs/cgroup/cgroup.controllers"))
                    ? "cpuset cpu io memory pids\n"
                    : "memory pids\n");
    assertThat(groups.controllers()).containsOnlyKeys("cpuset", "cpu", "io", "memory", "pids");
    assertThat(groups.hierarchies())
        .singleElement()
        .satisfies(
            hierarchy ->
                assertThat(hierarchy.candidateParents())
                    .containsExactly(
                        Path.of("/sys/fs/cgroup"),
                        Path.of("/sys/fs/cgroup/user.slice"),
                        Path.of("/sys/fs/cgroup/user.slice/user-1000.slice"),
                        Path.of("/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope")));
  }

  @Test
  void serverLeafIsNoCandidateParent() {
    Path mount = Path.of("/sys/fs/cgroup");
    Path service = mount.resolve("isola.service");
    assertThat(
            new Hierarchy(true, mount, service.resolve("isola-server"), Set.of())
                .candidateParents())
        .containsExactly(mount, service);
  }

  @Test
  void parsesHybridLayout() {
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
    assertThat(groups.layout()).isEqualTo(Layout.HYBRID);
    assertThat(groups.controllers())
        .isEqualTo(
            Map.of(
                "cpu", new Controller(1, Path.of("/sys/fs/cgroup/cpu")),
                "memory", new Controller(1, Path.of("/sys/fs/cgroup/memory/service/a391")),
                "hugetlb", new Controller(2, Path.of("/sys/fs/cgroup/unified")),
                "pids", new Controller(2, Path.of("/sys/fs/cgroup/unified"))));
  }

  @Test
  void version1ThatOnlyTracksProcessesIsNotALayout() {
    ControlGroups groups =
        ControlGroups.parse(
            """
            31 25 0:27 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd
            41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
            """,
            """
            1:name=systemd:/init.scope
            0::/init.scope
            """,
            path -> "memory");
    assertThat(groups.layout()).isEqualTo(Layout.V2);
    assertThat(groups.controllers()).containsOnlyKeys("memory");
  }

  @Test
  void parsesPartialTreeOfAContainer() {
    ControlGroups groups =
        ControlGroups.parse(
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
    assertThat(groups.controllers())
        .containsEntry("memory", new Controller(1, Path.of("/sys/fs/cgroup/memory/inner")))
        .containsEntry("pids", new Controller(1, Path.of("/sys/fs/cgroup/pids")))
        .containsEntry("cpu", new Controller(1, Path.of("/sys/fs/cgroup/cpu/elsewhere")));
  }

  @Test
  void parsesContainerWithPrivateCgroupNamespace() {
    ControlGroups groups =
        ControlGroups.parse(
            "40 31 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n",
            "0::/\n",
            path -> "cpu memory pids");
    assertThat(groups.hierarchies())
        .singleElement()
        .satisfies(
            hierarchy ->
                assertThat(hierarchy.candidateParents())
                    .containsExactly(Path.of("/sys/fs/cgroup")));
  }

  @Test
  void secondMountOfAHierarchyIsIgnored() {
    ControlGroups groups =
        ControlGroups.parse(
            """
            30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw
            90 25 0:26 / /srv/a\\040chroot/cgroup rw - cgroup2 cgroup2 rw
            """,
            "0::/mine\n",
            path -> "memory");
    assertThat(groups.controllers())
        .isEqualTo(Map.of("memory", new Controller(2, Path.of("/sys/fs/cgroup/mine"))));
  }

  @Test
  void parsesHostWithoutCgroups() {
    ControlGroups groups = ControlGroups.parse("", "", path -> "");
    assertThat(groups.layout()).isEqualTo(Layout.NONE);
    assertThat(groups.controllers()).isEmpty();
    assertThat(groups.enforceable()).isEmpty();
    assertThat(groups.canFreeze()).isFalse();
  }

  @Test
  void malformedTablesYieldNoHierarchies() {
    ControlGroups groups =
        ControlGroups.parse("a b - cgroup\n\n - \nx\n", "::\n5\n7:memory:/x\n", path -> "");
    assertThat(groups.layout()).isEqualTo(Layout.NONE);
  }
}
