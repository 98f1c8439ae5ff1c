package dev.isola.provider.kubernetes;

import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.testing.cluster.TestCluster;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;

/** Providers on a real cluster. */
final class TestPods {
  private static final String INSTANCE = "kubernetestest";

  private TestPods() {}

  /** Skips the test without a cluster. */
  static void need() {
    TestCluster.missing().ifPresent(Assumptions::abort);
  }

  /** Skips the test without a cluster that has agent-sandbox. */
  static void needAgentSandbox() throws IOException, InterruptedException {
    need();
    boolean defined =
        !kubectl("get", "crd", "sandboxes.agents.x-k8s.io", "--ignore-not-found").isEmpty();
    Assumptions.assumeTrue(
        defined,
        "NOT RUN: the cluster has no agent-sandbox; ISOLA_CLUSTER_AGENT_SANDBOX=1"
            + " testing/cluster-here.sh COMMAND builds it");
  }

  static String image() {
    return TestCluster.get().image();
  }

  static Map<String, String> settings(String... more) {
    Map<String, String> settings =
        new HashMap<>(
            Map.of("image", image(), "kubeconfig", TestCluster.get().kubeconfig().toString()));
    for (int i = 0; i < more.length; i += 2) {
      settings.put(more[i], more[i + 1]);
    }
    return settings;
  }

  static Provider provider(Path folder, String... more) {
    return new KubernetesProviderFactory()
        .create(
            new ProviderConfig(settings(more)),
            new ProviderContext(new InstanceId(INSTANCE), folder, InstantSource.system()));
  }

  static String kubectl(String... words) throws IOException, InterruptedException {
    return TestCluster.get().kubectl(words);
  }
}
