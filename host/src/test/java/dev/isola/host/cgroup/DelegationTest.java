package dev.isola.host.cgroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.isola.host.cgroup.CgroupFixture.Variant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Delegates a controller of the real unified hierarchy, whichever is available, to nested groups.
 */
class DelegationTest {
  private interface Step {
    void in(Hierarchy group, String controller) throws Exception;
  }

  /**
   * Creates a group with a controller. On a host without version 2 controllers, enables one at the
   * root for the duration of the test.
   */
  private static void delegated(Step step) throws Exception {
    Hierarchy unified =
        ControlGroups.ofHost().hierarchies().stream()
            .filter(Hierarchy::unified)
            .findFirst()
            .orElse(null);
    assumeTrue(unified != null, "NOT RUN: no hierarchy of version 2 is mounted");
    Path granted = unified.mount().resolve("cgroup.subtree_control");
    Set<String> available = KernelFile.words(unified.mount().resolve("cgroup.controllers"));
    assumeTrue(Files.isWritable(granted), "NOT RUN: the top of version 2 is not ours to write");
    Optional<String> on = KernelFile.words(granted).stream().sorted().findFirst();
    String controller = on.orElseGet(() -> new TreeSet<>(available).pollFirst());
    assumeTrue(controller != null, "NOT RUN: version 2 has no controller here");
    assumeTrue(
        on.isPresent() || KernelFile.tryWrite(granted, "+" + controller),
        "NOT RUN: version 2 does not give us a controller here");
    Path group = unified.mount().resolve("delegated-" + ProcessHandle.current().pid());
    try {
      Files.createDirectory(group);
      step.in(new Hierarchy(true, group, group, Set.of(controller)), controller);
    } finally {
      Files.deleteIfExists(group.resolve(Delegation.LEAF));
      Files.deleteIfExists(group);
      if (on.isEmpty()) {
        KernelFile.write(granted, "-" + controller);
      }
    }
  }

  @Test
  void emptyGroupEnablesTheController() throws Exception {
    delegated(
        (group, controller) -> {
          assertThat(new Delegation(group, group.mount()).grant(controller)).isTrue();
          assertThat(KernelFile.words(group.mount().resolve("cgroup.subtree_control")))
              .containsExactly(controller);
          assertThat(group.mount().resolve(Delegation.LEAF)).doesNotExist();
          assertThat(new Delegation(group, group.mount()).grant("nosuch")).isFalse();
        });
  }

  @Test
  void processesOfTheServerAreMovedToALeaf() throws Exception {
    delegated(
        (group, controller) ->
            occupied(
                group,
                pid -> {
                  assertThat(new Delegation(group, group.mount()).grant(controller)).isTrue();
                  assertThat(KernelFile.words(group.mount().resolve("cgroup.subtree_control")))
                      .containsExactly(controller);
                  assertThat(KernelFile.read(group.mount().resolve("cgroup.procs"))).isEmpty();
                  assertThat(
                          KernelFile.read(group.mount().resolve(Delegation.LEAF + "/cgroup.procs")))
                      .isEqualTo(Long.toString(pid));
                }));
  }

  /** Control of the test above: a group that does not belong to the server is not changed. */
  @Test
  void processesOfForeignGroupsAreNotMoved() throws Exception {
    delegated(
        (group, controller) ->
            occupied(
                group,
                pid -> {
                  Hierarchy elsewhere =
                      new Hierarchy(
                          true, group.mount(), group.mount().resolve("own"), Set.of(controller));
                  assertThat(new Delegation(elsewhere, group.mount()).grant(controller)).isFalse();
                  assertThat(KernelFile.read(group.mount().resolve("cgroup.procs")))
                      .isEqualTo(Long.toString(pid));
                }));
  }

  private interface Look {
    void at(long pid);
  }

  private static void occupied(Hierarchy group, Look look)
      throws IOException, InterruptedException {
    try (CgroupFixture fixture = new CgroupFixture(Variant.V2_ONLY)) {
      Process process = fixture.start(fixture.group, "read word");
      KernelFile.write(group.mount().resolve("cgroup.procs"), Long.toString(process.pid()));
      try {
        look.at(process.pid());
      } finally {
        process.destroyForcibly().waitFor();
      }
    }
  }
}
