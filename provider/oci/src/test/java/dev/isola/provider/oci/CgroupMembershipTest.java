package dev.isola.provider.oci;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.HostLeakCheck;
import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.UniqueResources;
import dev.isola.host.cgroup.ControlGroups;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.spec.SandboxSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The cgroups of a sandbox as seen by the host, and its effects on files of the host. */
class CgroupMembershipTest {
  private static final InstanceId INSTANCE = UniqueResources.instanceId("membership");

  static Stream<ProviderFactory> factories() {
    return Stream.of(
        new CrunProviderFactory(), new RuncProviderFactory(), new GvisorProviderFactory());
  }

  /** The runtime must not move the sandbox to a cgroup of its own, nor leave one behind. */
  @ParameterizedTest
  @MethodSource("factories")
  void sandboxIsOnlyInItsOwnCgroups(ProviderFactory factory) throws Exception {
    Path data = Files.createTempDirectory("isola");
    ProviderUnderTest underTest =
        new ProviderUnderTest(factory, ProviderConfig.EMPTY, INSTANCE, data);
    try (Provider provider = underTest.open()) {
      if (provider.health() instanceof Health.Unhealthy ill) {
        Assumptions.abort("NOT RUN: " + ill.reason());
      }
      if (!ControlGroups.ofHost().enforceable().contains(LimitKind.MEMORY)) {
        Assumptions.abort("NOT RUN: control groups are not available");
      }
      HostLeakCheck leaks = HostLeakCheck.of(underTest);
      leaks.before();
      Object device = Files.getAttribute(Path.of("/dev/null"), "unix:uid");
      SandboxId id = SandboxId.random(new SecureRandom());
      Sandbox sandbox =
          provider.create(SandboxSpec.builder(id).deadline(Duration.ofMinutes(1)).build());
      sandbox.run(Command.shell("true"));

      String pid =
          provider.inventory().stream()
              .filter(seen -> seen.id().equals(id))
              .map(seen -> seen.details().get("agentPid"))
              .findFirst()
              .orElseThrow();
      String name = "/isola-" + INSTANCE + "-" + id;
      List<String> groups = Files.readAllLines(Path.of("/proc", pid, "cgroup"));
      assertThat(groups).anyMatch(line -> line.endsWith(name));
      assertThat(groups)
          .filteredOn(line -> line.contains(":memory") || line.contains(":pids"))
          .allMatch(line -> line.endsWith(name));
      assertThat(groups).noneMatch(line -> line.endsWith("/" + id));
      assertThat(Files.getAttribute(Path.of("/dev/null"), "unix:uid")).isEqualTo(device);

      provider.destroy(id, DestroyOptions.NORMAL);
      assertThat(leaks.after()).isEmpty();
    } finally {
      TemporaryFolder.remove(data);
    }
  }
}
