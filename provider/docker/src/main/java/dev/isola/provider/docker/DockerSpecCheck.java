package dev.isola.provider.docker;

import dev.isola.host.launch.ContainerEngineSockets;
import dev.isola.provider.docker.http.EngineAddress;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.provider.SpecFeature;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.VolumeMount;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Which features of a spec a container engine supports, and which combinations it does not. */
record DockerSpecCheck(String provider, EngineAddress address, boolean bridge, boolean ownKernel) {
  void requireSupported(SandboxSpec spec) {
    if (address.local()) {
      SpecValidation.throwIfInvalid(SpecValidation.hostViolations(spec));
      SpecValidation.throwIfInvalid(sockets().violations(spec));
    }
    if (isNested(spec)) {
      throw Capability.unsupported(
          provider,
          "a volume below another volume or below workspacePath, where the engine would"
              + " follow links");
    }
  }

  /**
   * Tells whether a mount point lies in files that other sandboxes may have written. A link there
   * could redirect the mount onto the agent, and the engine, not Isola, resolves it.
   */
  private static boolean isNested(SandboxSpec spec) {
    List<Path> shared = new ArrayList<>();
    List<Path> mounted = new ArrayList<>(List.of(Path.of(spec.workspaceMount()).normalize()));
    if (spec.workspacePath().isPresent()) {
      shared.addAll(mounted);
    }
    for (VolumeMount volume : spec.volumes()) {
      Path destination = Path.of(volume.destination()).normalize();
      mounted.add(destination);
      if (volume.type() != VolumeMount.Type.TMPFS) {
        shared.add(destination);
      }
    }
    return mounted.stream()
        .anyMatch(
            inner ->
                shared.stream().anyMatch(outer -> inner.startsWith(outer) && !inner.equals(outer)));
  }

  private ContainerEngineSockets sockets() {
    return address instanceof EngineAddress.Unix(Path path)
        ? ContainerEngineSockets.ofHost().with(path)
        : ContainerEngineSockets.ofHost();
  }

  Set<SpecFeature> features() {
    return address.local()
        ? EnumSet.of(SpecFeature.IMAGES, SpecFeature.USERS, SpecFeature.WORKSPACE_PATH)
        : EnumSet.of(SpecFeature.IMAGES, SpecFeature.USERS);
  }

  Set<NetworkMode> networks() {
    Set<NetworkMode> modes = EnumSet.of(NetworkMode.NONE, NetworkMode.FILTERED);
    if (!ownKernel) { // A guest kernel has a network stack of its own.
      modes.add(NetworkMode.HOST);
    }
    if (bridge) {
      modes.add(NetworkMode.BRIDGE);
    }
    return modes;
  }

  Set<VolumeMount.Type> volumes() {
    return address.local()
        ? EnumSet.allOf(VolumeMount.Type.class)
        : EnumSet.of(VolumeMount.Type.VOLUME, VolumeMount.Type.TMPFS);
  }
}
