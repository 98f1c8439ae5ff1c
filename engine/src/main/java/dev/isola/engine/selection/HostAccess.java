package dev.isola.engine.selection;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;

/**
 * What of the host itself a sandbox is given. It widens the wall around the sandbox, so that both
 * the operator, in the configuration, and the credential of the client have to allow it.
 *
 * @param network the network of the host, with every service on its loopback
 * @param folders folders of the host, as workspace or as a volume of type bind
 */
public record HostAccess(boolean network, boolean folders) {
  public static final HostAccess NONE = new HostAccess(false, false);

  /** Returns what a spec asks for. */
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
   * Refuses a spec that asks for more than the operator allows, which this is, or that comes from a
   * client without the scope for it.
   *
   * @param granted whether the client may ask for the host at all
   * @throws dev.isola.spi.error.Forbidden naming what was asked for and who can allow it
   */
  public void check(SandboxSpec spec, boolean granted) {
    HostAccess asked = of(spec);
    if (asked.network()) {
      check("network mode host", "the network of the host", granted, network, "allow_host_network");
    }
    if (asked.folders()) {
      check(
          "workspacePath or a volume of type bind",
          "folders of the host",
          granted,
          folders,
          "allow_host_folders");
    }
  }

  private static void check(
      String field, String what, boolean granted, boolean allowed, String key) {
    if (!granted) {
      throw refused(
          field + " opens " + what + ", which this credential may not",
          "use a key with scope admin, or leave it out");
    }
    if (!allowed) {
      throw refused(
          field + " opens " + what + ", which this server does not allow",
          "the operator can allow it with " + key + ": true in the configuration");
    }
  }

  private static SandboxException refused(String what, String remedy) {
    return Fault.of(ErrorCode.FORBIDDEN, what, remedy).exception();
  }
}
