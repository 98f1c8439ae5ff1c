package dev.isola.provider.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.testing.cluster.TestCluster;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a real cluster does to a sandbox becomes the cause that its user reads. */
@Timeout(120)
class PodCausesTest {
  private static final OutputLimit LIMIT = new OutputLimit(1000, 1000);
  private static final AtomicInteger COUNT = new AtomicInteger();

  @TempDir Path folder;
  private final SandboxId id = new SandboxId("cause" + COUNT.incrementAndGet());

  @BeforeEach
  void need() {
    TestPods.need();
  }

  private String pod() {
    return "isola-kubernetestest-" + id;
  }

  private SandboxSpec spec() {
    return SandboxSpec.builder(id).build();
  }

  private static void awaitEnd(Sandbox sandbox) {
    await().untilAsserted(() -> assertThat(sandbox.state()).isEqualTo(SandboxState.DESTROYED));
  }

  @Test
  void podDeletedBehindOurBackIsNoticedAtOnce() throws Exception {
    try (Provider provider = TestPods.provider(folder)) {
      Sandbox sandbox = provider.create(spec());
      TestPods.kubectl("delete", "pod", pod(), "--wait=false");
      awaitEnd(sandbox);
      assertThatThrownBy(() -> sandbox.run(Command.shell("true"), LIMIT))
          .isInstanceOf(Gone.class)
          .hasMessageContaining("pod was deleted");
      provider.destroy(id, DestroyOptions.NORMAL);
    }
  }

  @Test
  void drainedNodeIsTheCause() throws Exception {
    try (Provider provider = TestPods.provider(folder)) {
      Sandbox sandbox = provider.create(spec());
      String node = TestPods.kubectl("get", "pod", pod(), "-o", "jsonpath={.spec.nodeName}");
      try {
        TestPods.kubectl("drain", node, "--force", "--delete-emptydir-data", "--timeout=30s");
        awaitEnd(sandbox);
        assertThatThrownBy(() -> sandbox.run(Command.shell("true"), LIMIT))
            .isInstanceOf(Gone.class)
            .hasMessageContaining("Eviction");
      } finally {
        TestPods.kubectl("uncordon", node);
        provider.destroy(id, DestroyOptions.NORMAL);
      }
    }
  }

  @Test
  void imageThatCannotBePulledIsTheCauseAndNothingRemains() {
    try (Provider provider = TestPods.provider(folder)) {
      SandboxSpec spec = SandboxSpec.builder(id).image("127.0.0.1:1/none:1").build();
      assertThatThrownBy(() -> provider.create(spec))
          .isInstanceOfSatisfying(
              SandboxException.class,
              e -> assertThat(e.code()).isEqualTo(ErrorCode.IMAGE_NOT_FOUND))
          .hasMessageContaining("ErrImagePull")
          .hasMessageContaining("127.0.0.1:1");
      assertThat(provider.inventory()).isEmpty();
    }
  }

  @Test
  void runtimeThatIsNotGvisorIsRefusedAndNothingRemains() {
    try (Provider provider = TestPods.provider(folder, "runtime_class", "liar")) {
      assertThatThrownBy(() -> provider.create(spec()))
          .hasMessageContaining("not isolated as its runtime class promises");
      assertThat(provider.inventory()).isEmpty();
    }
  }

  @Test
  void missingRuntimeClassIsUnhealthy() {
    try (Provider provider = TestPods.provider(folder, "runtime_class", "none")) {
      assertThat(provider.health())
          .isInstanceOfSatisfying(
              Health.Unhealthy.class,
              health -> assertThat(health.reason()).contains("no runtime class none"));
    }
  }

  @Test
  void podThatFindsNoNodeSaysWhy() {
    try (Provider provider = TestPods.provider(folder, "node_selector", "disk=none")) {
      SandboxSpec spec = SandboxSpec.builder(id).startupTimeout(Duration.ofSeconds(4)).build();
      assertThatThrownBy(() -> provider.create(spec))
          .isInstanceOfSatisfying(
              SandboxException.class,
              e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE_EXCEEDED))
          .hasMessageContaining("node affinity/selector");
      assertThat(provider.inventory()).isEmpty();
    }
  }

  @Test
  void endedPodIsInTheInventoryWithItsCause() throws Exception {
    try (Provider provider = TestPods.provider(folder)) {
      Sandbox sandbox =
          provider.create(SandboxSpec.builder(id).deadline(Duration.ofSeconds(4)).build());
      awaitEnd(sandbox);
      await() // its node reports the end of a pod later than the agent does
          .untilAsserted(() -> assertThat(item(provider).state()).isEqualTo(SandboxState.ERROR));
      assertThat(item(provider).details().get(InventoryItem.END_REASON)).contains("exit code");
      provider.destroy(id, DestroyOptions.NORMAL);
      assertThat(provider.inventory()).isEmpty();
    }
  }

  private static InventoryItem item(Provider provider) {
    return provider.inventory().getFirst();
  }

  @Test
  void missingPermissionsAreNamed() throws Exception {
    TestPods.kubectl("create", "serviceaccount", "poor");
    try {
      try (Provider provider =
          TestPods.provider(folder, "kubeconfig", kubeconfig("poor").toString())) {
        assertThat(provider.health())
            .isInstanceOfSatisfying(
                Health.Unhealthy.class,
                health ->
                    assertThat(health.reason())
                        .contains("create pods", "create pods/exec", "create configmaps")
                        .contains("create networkpolicies.networking.k8s.io"));
      }
    } finally {
      TestPods.kubectl("delete", "serviceaccount", "poor");
    }
  }

  @Test
  void missingPermissionToExecuteIsNamedAtOnceAndNothingRemains() throws Exception {
    TestPods.kubectl("create", "serviceaccount", "silent");
    TestPods.kubectl(
        "create",
        "role",
        "silent",
        "--verb=create,get,list,watch,delete",
        "--resource=pods,events,configmaps,networkpolicies.networking.k8s.io");
    TestPods.kubectl(
        "create", "rolebinding", "silent", "--role=silent", "--serviceaccount=default:silent");
    try (Provider provider =
        TestPods.provider(folder, "kubeconfig", kubeconfig("silent").toString())) {
      assertThatThrownBy(() -> provider.create(spec()))
          .isInstanceOfSatisfying(
              SandboxException.class,
              failed -> {
                assertThat(failed.code()).isEqualTo(ErrorCode.PROVIDER_UNAVAILABLE);
                assertThat(failed.fault().remedy()).contains("pods/exec");
              });
      assertThat(provider.inventory()).isEmpty();
    } finally {
      TestPods.kubectl("delete", "rolebinding,role,serviceaccount", "silent");
    }
  }

  private Path kubeconfig(String account) throws Exception {
    String token = TestPods.kubectl("create", "token", account);
    return Files.writeString(
        folder.resolve(account + ".kubeconfig"),
        Files.readString(TestCluster.get().kubeconfig())
            .replaceAll("(?m)^ +client-certificate-data:.*$", "    token: " + token)
            .replaceAll("(?m)^ +client-key-data:.*$", ""));
  }
}
