package dev.isola.provider.oci;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.host.launch.Isolator.StagedSandbox;
import dev.isola.host.launch.SandboxKernel;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class OciBundleTest {
  private static String bundle(NetworkMode network, boolean readOnly, boolean users) {
    SandboxSpec spec = SandboxSpec.builder(new SandboxId("abc")).build();
    StagedSandbox staged =
        new StagedSandbox(
            spec,
            new SandboxFolder(Path.of("/x")),
            new SandboxUserIds(true, 655_360),
            network,
            !readOnly,
            List.of("/.isola/agent", "--say", "\"hi\""),
            3);
    return OciBundle.of(staged, readOnly, SandboxKernel.HOST, users, List.of());
  }

  @Test
  void bundleHasAllNamespaces() {
    String json = bundle(NetworkMode.NONE, true, true);
    for (String type : List.of("pid", "mount", "ipc", "uts", "cgroup", "network")) {
      assertThat(json).contains("{\"type\":\"" + type + "\"}");
    }
    assertThat(json)
        .contains("{\"type\":\"user\",\"path\":\"/tmp/users\"}")
        .contains("\"uidMappings\":[{\"containerID\":0,\"hostID\":655360,\"size\":65536}]")
        .contains("\"gidMappings\":[{\"containerID\":0,\"hostID\":655360,\"size\":65536}]")
        .contains("\"root\":{\"path\":\"/tmp/root\",\"readonly\":true}")
        .contains("\"args\":[\"/.isola/agent\",\"--say\",\"\\\"hi\\\"\"]")
        .contains("\"noNewPrivileges\":true")
        .contains("\"terminal\":false")
        .doesNotContain("CAP_SYS_ADMIN")
        .doesNotContain("CAP_NET_RAW")
        .doesNotContain("CAP_MKNOD");
  }

  @Test
  void bundleHasASeccompFilter() {
    assertThat(bundle(NetworkMode.NONE, true, true))
        .contains("\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\"")
        .contains("\"read\"", "\"ptrace\"", "\"fchmodat2\"", "\"max=128\"")
        .contains("\"value\":" + 0x7e020000L)
        .doesNotContain("\"mount\",", "\"bpf\"", "\"setns\"", "\"keyctl\"", "io_uring");
  }

  @Test
  void hostNetworkHasNoNetworkNamespace() {
    assertThat(bundle(NetworkMode.HOST, true, true)).doesNotContain("\"network\"");
  }

  @Test
  void bundleOmitsTheUserNamespaceIfAlreadyEntered() {
    assertThat(bundle(NetworkMode.HOST, true, false))
        .doesNotContain("\"user\"}")
        .doesNotContain("Mappings");
  }

  @Test
  void imageRootIsWritable() {
    assertThat(bundle(NetworkMode.NONE, false, true)).contains("\"readonly\":false");
  }

  @Test
  void onlyAFilteredNetworkNeedsCapabilitiesOverIt() {
    assertThat(bundle(NetworkMode.NONE, true, true)).doesNotContain("CAP_NET_ADMIN");
    assertThat(bundle(NetworkMode.FILTERED, true, true))
        .contains("CAP_NET_ADMIN")
        .contains("{\"type\":\"network\"}");
  }
}
