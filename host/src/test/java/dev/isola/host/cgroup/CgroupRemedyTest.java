package dev.isola.host.cgroup;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Advice for hosts on which not everything can be limited. */
class CgroupRemedyTest {
  @TempDir Path mount;

  private ControlGroups machine(String type, String controllers, String membership) {
    return ControlGroups.parse(
        "30 25 0:26 / " + mount + " rw - " + type + " cgroup rw,memory,cpu,pids\n",
        membership,
        path -> controllers);
  }

  @Test
  void withoutMountAdvisesToMountCgroups() {
    ControlGroups none = ControlGroups.parse("", "", path -> "");
    assertThat(none.remedy()).isEqualTo("mount the cgroup file system at /sys/fs/cgroup");
  }

  @Test
  void unprivilegedUserIsAdvisedToUseADelegatedCgroup() {
    ControlGroups unified = machine("cgroup2", "memory cpu pids", "0::/\n");
    assertThat(CgroupRemedy.of(unified, false))
        .contains("systemd-run --user --scope -p Delegate=yes");
    ControlGroups old = machine("cgroup", "", "1:memory,cpu,pids:/\n");
    assertThat(CgroupRemedy.of(old, false)).contains("run as root");
  }

  @Test
  void missingControllerIsNamed() {
    assertThat(CgroupRemedy.of(machine("cgroup2", "memory cpu", "0::/\n"), true))
        .contains(" pids ");
    assertThat(CgroupRemedy.of(machine("cgroup2", "cpu pids", "0::/\n"), true))
        .contains("cgroup_enable=memory");
  }

  @Test
  void noAdviceWhenEverythingIsEnforceable() {
    ControlGroups here = ControlGroups.ofHost();
    boolean works = here.canFreeze() && here.enforceable().equals(CgroupProbe.KINDS);
    assertThat(here.remedy().isEmpty()).isEqualTo(works);
  }
}
