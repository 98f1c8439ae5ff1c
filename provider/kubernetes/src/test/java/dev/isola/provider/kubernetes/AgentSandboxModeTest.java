package dev.isola.provider.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.codec.json.Json;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Gone;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.testing.cluster.TestCluster;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Sandboxes as objects of agent-sandbox, with its controller, on a real cluster. */
@Timeout(120)
class AgentSandboxModeTest {
  private static final OutputLimit LIMIT = new OutputLimit(1000, 1000);
  private static final AtomicInteger COUNT = new AtomicInteger();

  @TempDir Path folder;
  private final SandboxId id = new SandboxId("crd" + COUNT.incrementAndGet());

  @BeforeEach
  void need() throws Exception {
    TestPods.needAgentSandbox();
  }

  @AfterEach
  void removeWhatAFailureLeft() {
    if (TestCluster.missing().isEmpty()) {
      try (Provider provider = provider()) {
        provider.destroy(id, DestroyOptions.NORMAL);
      }
    }
  }

  private Provider provider(String... more) {
    String[] settings = new String[more.length + 2];
    settings[0] = "mode";
    settings[1] = "agent-sandbox";
    System.arraycopy(more, 0, settings, 2, more.length);
    return TestPods.provider(folder, settings);
  }

  private String name() {
    return "isola-kubernetestest-" + id;
  }

  private SandboxSpec spec() {
    return SandboxSpec.builder(id).build();
  }

  private String objects() throws Exception {
    return TestPods.kubectl("get", "sandboxes,pods", "-l", "dev.isola.sandbox=" + id, "-o", "name");
  }

  private String uid() throws Exception {
    return TestPods.kubectl(
        "get", "pod", name(), "--ignore-not-found", "-o", "jsonpath={.metadata.uid}");
  }

  private static void awaitUntil(String what, Callable<Boolean> condition) {
    await(what).atMost(Duration.ofSeconds(30)).until(condition);
  }

  private static InventoryItem item(Provider provider) {
    assertThat(provider.inventory()).hasSize(1);
    return provider.inventory().getFirst();
  }

  @Test
  void sandboxIsAnObjectWhoseControllerMakesThePod() throws Exception {
    try (Provider provider = provider();
        Provider pods = TestPods.provider(folder)) {
      assertThat(provider.health()).isInstanceOf(Health.Healthy.class);
      Sandbox sandbox = provider.create(spec());
      assertThat(sandbox.run(Command.shell("hostname"), LIMIT).stdout().text())
          .isEqualTo(id + "\n");
      assertThat(objects().lines())
          .containsExactlyInAnyOrder("sandbox.agents.x-k8s.io/" + name(), "pod/" + name());
      assertThat(
              TestPods.kubectl(
                  "get", "pod", name(), "-o", "jsonpath={.metadata.ownerReferences[0].kind}"))
          .isEqualTo("Sandbox");
      assertThat(item(provider).state()).isEqualTo(SandboxState.RUNNING);
      assertThat(pods.inventory()).as("of the mode pods").isEmpty();
      try (Provider another = provider()) {
        Sandbox attached = another.attach(id).orElseThrow();
        assertThat(attached.run(Command.shell("echo 1"), LIMIT).stdout().text()).isEqualTo("1\n");
      }
      provider.destroy(id, DestroyOptions.NORMAL);
      assertThat(objects()).isEmpty();
      assertThat(provider.inventory()).isEmpty();
    }
  }

  @Test
  void podDeletedBehindOurBackEndsTheSandboxAndItsObject() throws Exception {
    try (Provider provider = provider()) {
      Sandbox sandbox = provider.create(spec());
      TestPods.kubectl("delete", "pod", name(), "--wait=false");
      awaitUntil("the end", () -> sandbox.state() == SandboxState.DESTROYED);
      assertThatThrownBy(() -> sandbox.run(Command.shell("true"), LIMIT))
          .isInstanceOf(Gone.class)
          .hasMessageContaining("pod was deleted");
      awaitUntil("the removal of the object", () -> objects().isEmpty());
      assertThat(item(provider).details().get(InventoryItem.END_REASON))
          .contains("pod was deleted");
      provider.destroy(id, DestroyOptions.NORMAL);
      assertThat(provider.inventory()).isEmpty();
    }
  }

  /** The controller replaces a deleted pod; no process of Isola runs that could notice. */
  @Test
  void replacementOfAPodDoesNotCountAsRunning() throws Exception {
    try (Provider gone = provider()) {
      gone.create(spec());
    }
    String first = uid();
    TestPods.kubectl("delete", "pod", name());
    awaitUntil("the replacement", () -> !uid().isEmpty() && !uid().equals(first));
    TestPods.kubectl("wait", "--for=condition=Ready", "pod", name(), "--timeout=60s");
    try (Provider provider = provider()) {
      assertThat(item(provider).state()).isEqualTo(SandboxState.ERROR);
      assertThat(item(provider).details().get(InventoryItem.END_REASON))
          .contains("pod was deleted");
      assertThat(provider.attach(id)).isEmpty();
      assertThatThrownBy(() -> provider.create(spec())).hasMessageContaining("remains");
      provider.destroy(id, DestroyOptions.NORMAL);
      assertThat(objects()).isEmpty();
      assertThat(provider.inventory()).isEmpty();
    }
  }

  /** As a process leaves it that is killed between its first request and the boot. */
  @Test
  void objectWhoseSandboxWasNeverStartedIsFoundAndRemoved() throws Exception {
    Map<String, String> settings = TestPods.settings("mode", "agent-sandbox");
    InstanceId instance = new InstanceId("kubernetestest");
    PodPlan plan =
        new PodPlan(
            instance,
            KubernetesSettings.of(new ProviderConfig(settings)),
            spec(),
            TestPods.image(),
            AgentConfigMap.of(instance, AgentConfigMap.ownArchitecture()),
            new PodIsolation(PodRuntime.HOST_KERNEL, false));
    Path file = folder.resolve("sandbox.json");
    Files.writeString(file, Json.text(SandboxResources.body(plan)));
    try (Provider provider = provider()) {
      TestPods.kubectl("create", "-f", file.toString());
      awaitUntil("its pod", () -> !uid().isEmpty());
      assertThat(item(provider).state()).isEqualTo(SandboxState.CREATING);
      assertThat(provider.attach(id)).isEmpty();
      provider.destroy(id, DestroyOptions.NORMAL);
      assertThat(objects()).isEmpty();
    }
  }

  @Test
  void drainedNodeIsTheCauseAndNothingIsMadeElsewhere() throws Exception {
    try (Provider provider = provider()) {
      Sandbox sandbox = provider.create(spec());
      String node = TestPods.kubectl("get", "pod", name(), "-o", "jsonpath={.spec.nodeName}");
      try {
        TestPods.kubectl("drain", node, "--force", "--delete-emptydir-data", "--timeout=30s");
        awaitUntil("the end", () -> sandbox.state() == SandboxState.DESTROYED);
        assertThatThrownBy(() -> sandbox.run(Command.shell("true"), LIMIT))
            .isInstanceOf(Gone.class)
            .hasMessageContaining("Eviction");
        awaitUntil("the removal of the object", () -> objects().isEmpty());
      } finally {
        TestPods.kubectl("uncordon", node);
        provider.destroy(id, DestroyOptions.NORMAL);
      }
    }
  }

  @Test
  void imageThatCannotBePulledIsTheCauseAndNothingRemains() throws Exception {
    try (Provider provider = provider()) {
      SandboxSpec spec = SandboxSpec.builder(id).image("127.0.0.1:1/none:1").build();
      assertThatThrownBy(() -> provider.create(spec)).hasMessageContaining("ErrImagePull");
      assertThat(objects()).isEmpty();
    }
  }

  @Test
  void quotaThatTheControllerMeetsIsTheCauseAndNothingRemains() throws Exception {
    TestPods.kubectl("create", "quota", "none", "--hard=pods=0");
    try (Provider provider = provider()) {
      SandboxSpec spec = SandboxSpec.builder(id).startupTimeout(Duration.ofSeconds(40)).build();
      assertThatThrownBy(() -> provider.create(spec)).hasMessageContaining("exceeded quota");
      assertThat(objects()).isEmpty();
    } finally {
      TestPods.kubectl("delete", "quota", "none");
    }
  }

  @Test
  void missingPermissionsAreNamed() throws Exception {
    TestPods.kubectl("create", "serviceaccount", "poorer");
    try {
      String token = TestPods.kubectl("create", "token", "poorer");
      Path kubeconfig = folder.resolve("poorer.kubeconfig");
      Files.writeString(
          kubeconfig,
          Files.readString(TestCluster.get().kubeconfig())
              .replaceAll("(?m)^ +client-certificate-data:.*$", "    token: " + token)
              .replaceAll("(?m)^ +client-key-data:.*$", ""));
      try (Provider provider = provider("kubeconfig", kubeconfig.toString())) {
        assertThat(provider.health())
            .isInstanceOfSatisfying(
                Health.Unhealthy.class,
                health ->
                    assertThat(health.reason())
                        .contains("create sandboxes.agents.x-k8s.io")
                        .contains("patch sandboxes.agents.x-k8s.io")
                        .doesNotContain("create pods,"));
      }
    } finally {
      TestPods.kubectl("delete", "serviceaccount", "poorer");
    }
  }
}
