package dev.isola.provider.subprocess;

import dev.isola.spi.capability.Capability;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.VolumeMount;

/**
 * Rejects specs that a plain process cannot honour although it declares the feature, before
 * anything is created.
 */
final class SubprocessSpecValidation {
  private SubprocessSpecValidation() {}

  static void validate(String provider, SandboxSpec spec) {
    SpecValidation.throwIfInvalid(SpecValidation.hostViolations(spec));
    for (VolumeMount volume : spec.volumes()) {
      if (!volume.destination().startsWith(spec.workspaceMount() + "/")) {
        throw Capability.unsupported(
            provider,
            "mounts outside " + spec.workspaceMount() + " (" + volume.destination() + ")");
      }
    }
  }
}
