package dev.isola.engine.api;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;

/**
 * Access of a sandbox to the host. It weakens the isolation, so both the operator (in the
 * configuration) and the credential of the client must allow it.
 *
 * @param network the host network, including every service on its loopback interface
 * @param folders host folders, as workspace or as bind volumes
 */
public record HostAccess(boolean network, boolean folders) {
  public static final HostAccess NONE = new HostAccess(false, false);

  /** Returns the host access that a spec requests. */
  public static HostAccess of(SandboxSpec spec) {
    return new HostAccess(
        spec.network().mode().filter(mode -> mode == NetworkMode.HOST).isPresent(),
        spec.workspacePath().isPresent()
            || spec.volumes().stream().anyMatch(one -> one.type() == VolumeMount.Type.BIND));
  }

  public boolean isNone() {
    return equals(NONE);
  }

  /**
   * Rejects a spec that requests more than the operator allows (this value), or that comes from a
   * client without the required scope.
   *
   * @param granted whether the credential of the client allows host access
   * @throws dev.isola.spi.error.Forbidden naming the access and how to allow it
   */
  public void check(SandboxSpec spec, boolean granted) {
    HostAccess requested = of(spec);
    if (requested.network()) {
      check("network mode host", "the host network", granted, network, "allow_host_network");
    }
    if (requested.folders()) {
      check(
          "workspacePath or a volume of type bind",
          "host folders",
          granted,
          folders,
          "allow_host_folders");
    }
  }

  private static void check(
      String field, String what, boolean granted, boolean allowed, String key) {
    if (!granted) {
      throw refused(
          field + " gives access to " + what + ", which this credential does not allow",
          "use a key with scope admin, or omit it");
    }
    if (!allowed) {
      throw refused(
          field + " gives access to " + what + ", which this server does not allow",
          "the operator can allow it with " + key + ": true in the configuration");
    }
  }

  private static SandboxException refused(String what, String remedy) {
    return Fault.of(ErrorCode.FORBIDDEN, what, remedy).exception();
  }
}
