package dev.isola.provider.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.OutputLimit;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.SandboxSpec;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands through the agent compared with {@code kubectl exec}, in the same run. */
@Timeout(300)
class PodLatencyTest {
  private static final OutputLimit LIMIT = new OutputLimit(1000, 1000);
  private static final int PODS = 7;

  @TempDir Path folder;

  private interface Action {
    void run(int number) throws Exception;
  }

  private static double median(int count, Action action) throws Exception {
    double[] milliseconds = new double[count];
    for (int i = 0; i < count; i++) {
      long begin = System.nanoTime();
      action.run(i);
      milliseconds[i] = (System.nanoTime() - begin) / 1e6;
    }
    Arrays.sort(milliseconds);
    return milliseconds[count / 2];
  }

  @Test
  void commandIsTwentyTimesFasterThanKubectlExec() throws Exception {
    TestCluster.need();
    try (Provider provider = TestCluster.provider(folder)) {
      Sandbox[] sandbox = new Sandbox[1];
      double create =
          median(PODS, i -> sandbox[0] = provider.create(SandboxSpec.builder(id(i)).build()));
      double kubectlRun =
          median(
              PODS,
              i -> {
                TestCluster.kubectl(
                    "run",
                    "plain" + i,
                    "--image=" + TestCluster.image(),
                    "--restart=Never",
                    "--",
                    "sleep",
                    "1000");
                TestCluster.kubectl("wait", "--for=condition=Ready", "pod/plain" + i);
              });
      double exec = median(100, i -> sandbox[0].run(Command.argv("true"), LIMIT));
      double kubectlExec = median(15, i -> TestCluster.kubectl("exec", "plain0", "--", "true"));
      double destroy = median(PODS, i -> provider.destroy(id(i), DestroyOptions.NORMAL));
      for (int i = 0; i < PODS; i++) {
        TestCluster.kubectl("delete", "pod", "plain" + i, "--now", "--wait=false");
      }
      System.out.printf(
          "medians in ms: create %.0f, kubectl run until ready %.0f, command %.2f, kubectl exec"
              + " %.0f, destroy %.0f%n",
          create, kubectlRun, exec, kubectlExec, destroy);
      assertThat(kubectlExec / exec).isGreaterThan(20);
    }
  }

  private static SandboxId id(int number) {
    return new SandboxId("latency" + number);
  }
}
