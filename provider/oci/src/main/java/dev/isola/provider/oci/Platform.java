package dev.isola.provider.oci;

import dev.isola.spi.provider.ProviderConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Chooses what gVisor runs sandboxes on. A device for virtual machines that is there may still not
 * do (nested in another machine, or too new for this gVisor), so it is tried; otherwise gVisor
 * chooses itself.
 */
final class Platform {
  private static final Path KVM = Path.of("/dev/kvm");
  private static final Duration PATIENCE = Duration.ofSeconds(4);
  private static final Duration BAD = Duration.ofDays(1);

  private final ProviderConfig config;
  private final Trials trials;

  /**
   * @param config its setting {@code platform} decides without trying
   */
  Platform(ProviderConfig config, Trials trials) {
    this.config = config;
    this.trials = trials;
  }

  Optional<String> choose() {
    Optional<String> given = config.get("platform");
    return given.isPresent() || !kvmWorks() ? given : Optional.of("kvm");
  }

  private boolean kvmWorks() {
    if (!Files.isWritable(KVM)) {
      return false;
    }
    OciRuntime runtime = new Gvisor(() -> Optional.of("kvm"));
    RuntimeProbe probe = new RuntimeProbe(runtime, config, trials);
    return probe
        .program()
        .flatMap(
            program ->
                Optional.of(
                    trials
                        .problem(
                            new Trials.Question(
                                "kvm " + program.identity(),
                                new OciIsolator(runtime, probe),
                                PATIENCE,
                                BAD))
                        .isEmpty()))
        .orElse(false);
  }
}
