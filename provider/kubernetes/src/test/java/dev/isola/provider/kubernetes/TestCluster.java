package dev.isola.provider.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** The cluster in whose environment the tests run: {@code testing/cluster-here.sh ./check ...}. */
final class TestCluster {
  private TestCluster() {}

  /** Skips the test without a cluster. */
  static void need() {
    if (System.getenv("KUBECONFIG") == null || System.getenv("ISOLA_TEST_IMAGE") == null) {
      Assumptions.abort("NOT RUN: no cluster; run it with testing/cluster-here.sh");
    }
  }

  static String image() {
    return System.getenv("ISOLA_TEST_IMAGE");
  }

  static Map<String, String> settings(String... more) {
    Map<String, String> settings = new HashMap<>(Map.of("image", image()));
    for (int i = 0; i < more.length; i += 2) {
      settings.put(more[i], more[i + 1]);
    }
    return settings;
  }

  static Provider provider(Path folder, String... more) {
    return new KubernetesProviderFactory()
        .create(
            new ProviderConfig(settings(more)),
            new ProviderContext(new InstanceId("kubernetestest"), folder, InstantSource.system()));
  }

  /** Runs kubectl and returns its output. */
  static String kubectl(String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("kubectl"));
    command.addAll(List.of(words));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(output).isTrue();
    assertThat(process.exitValue()).as(output).isZero();
    return output.strip();
  }
}
