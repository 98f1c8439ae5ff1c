package dev.isola.app.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.spi.Health;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.testing.fake.FakeProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which provider {@code isola run} selects, and what it prints about it. */
class RunSelectionTest {
  @TempDir Path folder;

  private final FakeProvider kernel = provider("kernel", Isolation.KERNEL);
  private final FakeProvider container = provider("container", Isolation.CONTAINER);
  private final FakeProvider daemon = provider("daemon", Isolation.CONTAINER);
  private final FakeProvider cloud = provider("cloud", Isolation.VM);
  private final FakeProvider plain = provider("plain", Isolation.PROCESS);

  RunSelectionTest() {
    daemon.hosting = Hosting.DAEMON;
    cloud.hosting = Hosting.REMOTE;
  }

  private static FakeProvider provider(String name, Isolation isolation) {
    FakeProvider provider = new FakeProvider(name);
    provider.isolation = isolation;
    return provider;
  }

  private CommandLineFixture isola() {
    return new CommandLineFixture(folder.resolve("data"), plain, cloud, daemon, container, kernel);
  }

  private static void broken(FakeProvider... providers) {
    for (FakeProvider one : providers) {
      one.health = new Health.Unhealthy("it is broken", "fix it");
    }
  }

  private String chosen(String... words) {
    List<FakeProvider> all = List.of(kernel, container, daemon, cloud, plain);
    all.forEach(one -> one.specs.clear());
    CommandResult called = isola().call(words);
    List<String> used =
        all.stream().filter(one -> !one.specs.isEmpty()).map(FakeProvider::name).toList();
    return used.isEmpty() ? called.err() : String.join(",", used) + called.err();
  }

  @Test
  void selectsTheStrongestHealthyProviderAndProbesNoOther() {
    assertThat(chosen("run", "true")).isEqualTo("kernel");
    assertThat(container.made).isZero();
    broken(kernel);
    assertThat(chosen("run", "true")).isEqualTo("container");
    assertThat(daemon.made).isZero();
    broken(container);
    assertThat(chosen("run", "true")).isEqualTo("daemon");
    assertThat(cloud.made).as("a cloud is not even asked").isZero();
    assertThat(plain.made).isZero();
  }

  @Test
  void neverFallsBackToProcessIsolationSilently() {
    broken(kernel, container, daemon);
    CommandResult refused = isola().call("run", "true");
    assertThat(refused.code()).isEqualTo(125);
    assertThat(refused.err())
        .hasLineCount(1)
        .contains("kernel: it is broken", "container: it is broken", "daemon: it is broken")
        .contains("for container: fix it")
        .contains("--isolation process");
    assertThat(plain.specs).isEmpty();
    assertThat(chosen("run", "--isolation", "process", "true")).isEqualTo("plain");
    assertThat(chosen("run", "--provider", "plain", "true")).isEqualTo("plain");
    assertThat(chosen("run", "--isolation", "container", "true")).contains("it is broken");
    assertThat(chosen("run", "--set", "floor=process", "--set", "allow_process=true", "true"))
        .isEqualTo("plain");
  }

  @Test
  void emulatedProviderRunsOnlyIfNamedOrAllowed() {
    FakeProvider emulated = provider("emulated", Isolation.VM);
    emulated.emulated = true;
    CommandLineFixture isola =
        new CommandLineFixture(folder.resolve("data"), emulated, container, plain);
    assertThat(isola.call("run", "true").code()).isZero();
    assertThat(container.specs).hasSize(1);
    assertThat(isola.call("run", "--isolation", "vm", "true").err())
        .contains("emulated: emulates the processors", "name provider emulated in the request");
    assertThat(isola.call("run", "--set", "allow_emulation=true", "true").code()).isZero();
    assertThat(container.specs).as("an emulated provider comes last").hasSize(2);
    assertThat(emulated.specs).isEmpty();
    assertThat(isola.call("run", "--provider", "emulated", "true").code()).isZero();
    assertThat(
            isola.call("run", "--set", "allow_emulation=true", "--isolation", "vm", "true").code())
        .isZero();
    assertThat(emulated.specs).hasSize(2);
  }

  @Test
  void enforcesTheConfiguredFloor() {
    assertThat(chosen("run", "--set", "floor=kernel", "true")).isEqualTo("kernel");
    broken(kernel);
    assertThat(chosen("run", "--set", "floor=kernel", "true")).contains("the floor of this");
    assertThat(chosen("run", "--set", "floor=kernel", "--provider", "container", "true"))
        .isEqualTo(
            "isola: provider container cannot create this sandbox: isolation container is weaker"
                + " than kernel, the floor of this installation; set floor: container\n");
    assertThat(chosen("run", "--set", "floor=container", "--isolation", "process", "true"))
        .isEqualTo("container");
    broken(container, daemon);
    assertThat(chosen("run", "--set", "floor=container", "--isolation", "process", "true"))
        .contains("it is broken")
        .doesNotContain("plain:");
    assertThat(plain.specs).isEmpty();
  }

  @Test
  void readsTheServerConfiguration() throws IOException {
    Path file = folder.resolve("isola.yaml");
    Files.writeString(
        file,
        """
        provider: daemon
        providers:
          daemon:
            host: unix:///elsewhere
          kernel:
            enabled: false
        """);
    CommandLineFixture isola = isola();
    isola.env.put("ISOLA_CONFIG", file.toString());
    assertThat(isola.call("run", "true").err()).isEmpty();
    assertThat(daemon.specs).hasSize(1);
    assertThat(daemon.config.get("host")).contains("unix:///elsewhere");
    assertThat(isola.call("run", "--provider", "auto", "true").err()).isEmpty();
    assertThat(container.specs).as("the stronger one is turned off").hasSize(1);
    assertThat(isola.call("run", "--provider", "kernel", "true").err())
        .contains("disabled in the configuration");
    isola.env.put("ISOLA_PROVIDER", "container");
    isola.call("run", "true");
    assertThat(container.specs).hasSize(2);
    isola.env.put("ISOLA_FLOOR", "strong");
    assertThat(isola.call("run", "true").err()).contains("the configuration is invalid");
  }

  @Test
  void selectsADegradedProviderLastWithAWarning() {
    kernel.health = new Health.Degraded("ls fails in it", "install another");
    assertThat(chosen("run", "true")).isEqualTo("container");
    assertThat(chosen("run", "--isolation", "kernel", "true"))
        .isEqualTo("kernelisola: provider kernel is degraded: ls fails in it; install another\n");
    broken(container, daemon);
    assertThat(chosen("run", "true")).startsWith("kernelisola: provider kernel is degraded");
  }

  @Test
  void prefersProvidersThatEnforceTheLimitsAndWarnsOtherwise() {
    kernel.limits = Set.of();
    assertThat(chosen("run", "true")).isEqualTo("kernel");
    assertThat(chosen("run", "--memory", "64", "true")).isEqualTo("container");
    container.limits = Set.of();
    daemon.limits = Set.of();
    assertThat(chosen("run", "--memory", "64", "--cpu", "1", "true"))
        .isEqualTo(
            "kernelisola: --cpu is not enforced: kernel cannot limit cpu on this machine; run"
                + " isola doctor for details\n"
                + "isola: --memory is not enforced: kernel cannot limit memory on this machine; run"
                + " isola doctor for details\n");
    assertThat(chosen("run", "--provider", "container", "--memory", "64", "true"))
        .startsWith("containerisola: --memory is not enforced");
  }

  @Test
  void listsTheIsolationLevels() {
    assertThat(chosen("run", "--isolation", "strong", "true"))
        .isEqualTo("isola: --isolation is 'strong'; use one of vm, kernel, container, process\n");
    assertThat(chosen("run", "-v", "true"))
        .isEqualTo("kernelisola: provider kernel (isolation: kernel)\n");
  }
}
