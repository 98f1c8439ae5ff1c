package dev.isola.provider.oci;

import dev.isola.host.launch.SandboxProbe;
import dev.isola.spi.provider.ProviderConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Chooses the platform of gVisor. KVM may be present but unusable (nested virtualization, or too
 * new for this gVisor), so it is probed; otherwise gVisor chooses itself.
 */
final class GvisorPlatform {
  private static final Path KVM = Path.of("/dev/kvm");
  private static final Duration TIMEOUT = Duration.ofSeconds(4);
  private static final Duration FAILURE_TTL = Duration.ofDays(1);

  private final ProviderConfig config;
  private final SandboxProbe probes;

  /**
   * @param config its setting {@code platform} takes precedence over the probe
   */
  GvisorPlatform(ProviderConfig config, SandboxProbe probes) {
    this.config = config;
    this.probes = probes;
  }

  Optional<String> choose() {
    Optional<String> given = config.get("platform");
    return given.isPresent() || !kvmWorks() ? given : Optional.of("kvm");
  }

  private boolean kvmWorks() {
    if (!Files.isWritable(KVM)) {
      return false;
    }
    OciRuntime runtime = new GvisorRuntime(() -> Optional.of("kvm"));
    RuntimeProbe probe = new RuntimeProbe(runtime, config, probes);
    return probe
        .program()
        .flatMap(
            program ->
                Optional.of(
                    probes
                        .failure(
                            new SandboxProbe.ProbeRequest(
                                "kvm",
                                probe.subject(program),
                                new OciIsolator(runtime, probe),
                                TIMEOUT,
                                FAILURE_TTL))
                        .isEmpty()))
        .orElse(false);
  }
}
