package dev.isola.provider.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.SandboxSpec;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Root of a sandbox is an unprivileged user of its node, where the nodes can do that. */
@Timeout(120)
class UserNamespaceTest {
  private static final OutputLimit LIMIT = new OutputLimit(1000, 1000);

  @TempDir Path folder;

  @BeforeEach
  void need() throws Exception {
    TestPods.need();
    String reported =
        TestPods.kubectl("get", "nodes", "-o", "jsonpath={.items[*].status.runtimeHandlers}");
    Assumptions.assumeTrue(
        reported.contains("\"userNamespaces\":true"),
        "NOT RUN: the nodes have no user namespaces, which take runc 1.2 (libseccomp-dev builds it)");
  }

  private static boolean isRemapped(Provider provider) {
    return provider.info().prerequisites().stream()
        .filter(one -> one.name().equals("user namespaces"))
        .anyMatch(Prerequisite::present);
  }

  @Test
  void rootIsAnotherUserOnItsNode() {
    SandboxId id = new SandboxId("users1");
    try (Provider provider = TestPods.provider(folder)) {
      assertThat(isRemapped(provider)).isTrue();
      Sandbox sandbox = provider.create(SandboxSpec.builder(id).build());
      try {
        String map = sandbox.run(Command.shell("cat /proc/self/uid_map"), LIMIT).stdout().text();
        assertThat(PodIsolation.isShared(map)).as(map).isFalse();
        assertThat(sandbox.run(Command.shell("id -u; ip -o link"), LIMIT).stdout().text())
            .startsWith("0\n")
            .doesNotContain("eth0");
      } finally {
        provider.destroy(id, DestroyOptions.NORMAL);
      }
    }
  }

  @Test
  void usersAreSharedOnlyIfTheOperatorSaysSo() {
    SandboxId id = new SandboxId("users2");
    try (Provider provider = TestPods.provider(folder, "user_namespaces", "false")) {
      assertThat(isRemapped(provider)).isFalse();
      Sandbox sandbox = provider.create(SandboxSpec.builder(id).build());
      try {
        String map = sandbox.run(Command.shell("cat /proc/self/uid_map"), LIMIT).stdout().text();
        assertThat(PodIsolation.isShared(map)).as(map).isTrue();
      } finally {
        provider.destroy(id, DestroyOptions.NORMAL);
      }
    }
  }

  /** The runtime of this class reports no user namespaces. */
  @Test
  void runtimeWithoutUserNamespacesIsRefusedWhereTheyAreRequired() {
    SandboxId id = new SandboxId("users3");
    try (Provider provider =
        TestPods.provider(folder, "runtime_class", "liar", "user_namespaces", "true")) {
      assertThatThrownBy(() -> provider.create(SandboxSpec.builder(id).build()))
          .hasMessageContaining("user namespaces");
      assertThat(provider.inventory()).isEmpty();
    }
  }
}
