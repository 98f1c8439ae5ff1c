package dev.isola.provider.bubblewrap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.TemporaryInstallation;
import dev.isola.conformance.leak.LeakDetector;
import dev.isola.conformance.leak.ResourceScan;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;

/** A provider for tests of forks, with a leak check. */
abstract class ForkTestBase {
  TemporaryInstallation installation;
  Provider provider;
  LeakDetector leaks;
  ResourceScan before;

  @BeforeEach
  void open() {
    installation = TemporaryInstallation.of(new BubblewrapProviderFactory());
    provider = installation.open();
    if (provider.health() instanceof Health.Unhealthy unhealthy) {
      Assumptions.abort("NOT RUN: " + unhealthy.reason());
    }
    make("warm"); // so that lazily opened files of the JVM do not count as leaks
    provider.destroy(new SandboxId("warm"), DestroyOptions.FORCE);
    leaks = new LeakDetector(installation.instance(), installation.data());
    before = leaks.scan();
  }

  @AfterEach
  void close() {
    provider.close();
    installation.close();
  }

  static SandboxSpec spec(String id) {
    return SandboxSpec.builder(new SandboxId(id)).deadline(Duration.ofMinutes(10)).build();
  }

  Sandbox make(String id) {
    return provider.create(spec(id));
  }

  static Forking forking(Sandbox sandbox) {
    return sandbox.as(Forking.class).orElseThrow();
  }

  static String output(Sandbox sandbox, String script) {
    ExecResult result = sandbox.run(Command.shell(script));
    assertThat(result.succeeded()).as("%s: %s", script, result).isTrue();
    return result.stdout().text();
  }
}
