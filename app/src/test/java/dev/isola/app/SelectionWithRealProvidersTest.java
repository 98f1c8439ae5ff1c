package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxSpec;
import dev.isola.client.error.IsolaException;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.provider.e2b.E2bProviderFactory;
import dev.isola.provider.microvm.firecracker.FirecrackerProviderFactory;
import dev.isola.provider.microvm.qemu.QemuProviderFactory;
import dev.isola.provider.microvmctl.MicrovmctlProviderFactory;
import dev.isola.provider.oci.GvisorProviderFactory;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * O1 to O5: the scenarios that name Firecracker, E2B and microVMs, with real providers behind the
 * HTTP API. The service of {@code e2b} is an Isola server with bubblewrap; {@code qemu} emulates.
 * That service has no declared isolation, so that the local provider beside it has none either:
 * isolation comes before the deployment mode. The scenario in which Firecracker works needs KVM and
 * is tested with a fake only (SelectionWithFakeProvidersTest).
 */
@Timeout(180)
@Tag("all")
class SelectionWithRealProvidersTest {
  private static final ProviderFactory FIRECRACKER = new FirecrackerProviderFactory();
  private static final ProviderFactory QEMU = new QemuProviderFactory();
  private static final ProviderFactory GVISOR = new GvisorProviderFactory();
  private static final ProviderFactory BUBBLEWRAP = new BubblewrapProviderFactory();
  private static final ProviderFactory SUBPROCESS = new SubprocessProviderFactory();
  private static final ProviderFactory E2B = new E2bProviderFactory();

  private static final SandboxSpec AUTO =
      SandboxSpec.builder().provider("auto").ttl(Duration.ofMinutes(5)).build();

  @TempDir Path folder;
  private int folders;

  @Test
  @DisplayName("Self-hosted deployment without KVM")
  void selfHostedDeploymentWithoutKvm() throws Exception {
    try (LiveServer server = server(List.of(FIRECRACKER, GVISOR));
        Isola isola = server.client()) {
      requireHealthy(isola, "gvisor");
      requireNoKvm(isola);
      assertCreatedBy("gvisor", isola, AUTO);
    }
  }

  @Test
  @DisplayName("Managed deployment with and without E2B")
  void managedDeploymentPrefersE2bIfItIsConfigured() throws Exception {
    List<ProviderFactory> providers = List.of(FIRECRACKER, SUBPROCESS, E2B);
    try (LiveServer cloud = cloud();
        LiveServer server = server(providers, managedWith(cloud));
        Isola isola = server.client()) {
      requireHealthy(isola, "e2b");
      requireNoKvm(isola);
      assertCreatedBy("e2b", isola, AUTO);
    }
    try (LiveServer server =
            server(providers, "deployment_mode=managed", "floor=process", "allow_process=true");
        Isola isola = server.client()) {
      requireNoKvm(isola);
      assertCreatedBy("subprocess", isola, AUTO);
    }
  }

  @Test
  @DisplayName("E2B fails, falls back; an explicit E2B does not")
  void failingE2bFallsBackUnlessTheRequestNamesIt() throws Exception {
    LiveServer cloud = cloud();
    try (LiveServer server = server(List.of(FIRECRACKER, SUBPROCESS, E2B), managedWith(cloud));
        Isola isola = server.client()) {
      requireHealthy(isola, "e2b");
      requireNoKvm(isola);
      cloud.close(); // between two probes, so that e2b is still chosen
      try (Sandbox sandbox = isola.create(AUTO)) {
        assertThat(sandbox.info().provider()).isEqualTo("subprocess");
        assertThat(sandbox.info().document().get("attempts"))
            .asInstanceOf(InstanceOfAssertFactories.LIST)
            .singleElement()
            .asInstanceOf(InstanceOfAssertFactories.MAP)
            .containsEntry("provider", "e2b");
        assertThat(server.log()).contains("provider e2b could not create a sandbox");
      }
      assertThatThrownBy(() -> isola.create(AUTO.toBuilder().provider("e2b").build()))
          .isInstanceOf(IsolaException.class);
      assertThat(isola.list(SandboxFilter.ALL))
          .as("only what the server still looks for at the service")
          .allSatisfy(one -> assertThat(one.state()).isEqualTo("terminating"));
    } finally {
      cloud.close();
    }
  }

  @Test
  @DisplayName("Explicit provider request does NOT fallback; all providers fail")
  void explicitFirecrackerFailsAndTheErrorOfAutoListsEveryProvider() throws Exception {
    try (LiveServer server = server(List.of(FIRECRACKER, QEMU, BUBBLEWRAP, E2B));
        Isola isola = server.client()) {
      requireNoKvm(isola);
      assertThatThrownBy(() -> isola.create(AUTO.toBuilder().provider("firecracker").build()))
          .isInstanceOf(IsolaException.class)
          .hasMessageContaining("firecracker: ")
          .hasMessageNotContaining("bubblewrap: ");
      assertThatThrownBy(() -> isola.create(AUTO.toBuilder().requireIsolation("vm").build()))
          .isInstanceOf(IsolaException.class)
          .hasMessageContainingAll("firecracker: ", "qemu: ", "bubblewrap: ", "e2b: ");
      assertThat(isola.list(SandboxFilter.ALL)).isEmpty();
    }
  }

  @Test
  @DisplayName("Emulated virtual machines are not chosen by auto, unless the operator allows it")
  void emulatedMachineIsChosenIfItIsAllowedAndNothingElseSuffices() throws Exception {
    String kernel = System.getenv().getOrDefault("ISOLA_TEST_VMLINUZ", "");
    Assumptions.assumeFalse(kernel.isEmpty(), "NOT RUN: ISOLA_TEST_VMLINUZ names no kernel");
    try (LiveServer server =
            server(
                List.of(FIRECRACKER, QEMU, BUBBLEWRAP),
                "providers.qemu.kernel=" + kernel,
                "providers.qemu.accelerator=emulation",
                "allow_emulation=true");
        Isola isola = server.client()) {
      requireHealthy(isola, "qemu");
      requireHealthy(isola, "bubblewrap");
      requireNoKvm(isola);
      assertCreatedBy("bubblewrap", isola, AUTO);
      SandboxSpec machine =
          AUTO.toBuilder().requireIsolation("vm").set("image", SmallImage.NAME).build();
      try (Sandbox sandbox = isola.create(machine)) {
        assertThat(sandbox.info().provider()).isEqualTo("qemu");
        assertThat(sandbox.exec("cat /proc/version").stdout())
            .isNotEqualTo(Files.readString(Path.of("/proc/version")));
      }
    }
  }

  /** {@code MicrovmFallbackTest} has the fallback. */
  @Test
  @DisplayName("Explicit local_microvm is used if its command works")
  void localMicrovmIsUsedIfItsCommandWorks() throws Exception {
    try (MicrovmctlProgram program = MicrovmctlProgram.install(subfolder());
        LiveServer cloud = cloud();
        LiveServer server =
            server(
                List.of(new MicrovmctlProviderFactory(), E2B),
                "providers.microvmctl.cli=" + program.path(),
                "floor=process",
                e2bKey(),
                "providers.e2b.api_url=" + cloud.url,
                "providers.e2b.sandbox_url=" + cloud.url);
        Isola isola = server.client()) {
      requireHealthy(isola, "microvmctl");
      assertCreatedBy("microvmctl", isola, AUTO.toBuilder().provider("local_microvm").build());
    }
  }

  /** Returns a new folder. Its name is short, because the names of sockets are. */
  private Path subfolder() throws IOException {
    return Files.createDirectory(folder.resolve(Integer.toString(folders++)));
  }

  /** Starts a server that stands for E2B's service. */
  private LiveServer cloud() throws Exception {
    Path data = subfolder();
    SmallImage.addTo(data, subfolder(), "base", "first\n");
    return LiveServer.start(data, BUBBLEWRAP);
  }

  private static String[] managedWith(LiveServer cloud) {
    return new String[] {
      "deployment_mode=managed",
      "floor=process", // e2b declares no isolation of a service that is not E2B's own
      "allow_process=true",
      e2bKey(),
      "providers.e2b.api_url=" + cloud.url,
      "providers.e2b.sandbox_url=" + cloud.url
    };
  }

  private static String e2bKey() {
    return "providers.e2b.api_key=" + LiveServer.KEY;
  }

  private LiveServer server(List<ProviderFactory> providers, String... settings) throws Exception {
    Path data = subfolder();
    SmallImage.addTo(data, subfolder());
    return LiveServer.start(data, new ArrayList<>(providers), settings);
  }

  private static void assertCreatedBy(String provider, Isola isola, SandboxSpec spec) {
    try (Sandbox sandbox = isola.create(spec)) {
      assertThat(sandbox.info().provider()).isEqualTo(provider);
      assertThat(sandbox.exec("echo here").stdout()).isEqualTo("here\n");
    }
  }

  private static void requireNoKvm(Isola isola) {
    Assumptions.assumeTrue(
        health(isola, "firecracker").equals("unhealthy"), "NOT RUN: Firecracker works here");
  }

  private static void requireHealthy(Isola isola, String provider) {
    Assumptions.assumeFalse(
        health(isola, provider).equals("unhealthy"),
        () -> "NOT RUN: " + provider + " is unhealthy");
  }

  private static String health(Isola isola, String provider) {
    return isola.providers().stream()
        .filter(one -> provider.equals(one.get("name")))
        .map(one -> String.valueOf(one.get("status")))
        .findFirst()
        .orElseThrow();
  }
}
