package dev.isola.engine.api;

import dev.isola.spi.Isolation;

/**
 * The policy of the installation, which applies to every request.
 *
 * @param floor the minimum isolation
 * @param allowProcess whether requests that name no provider may get isolation {@code process}
 * @param allowEmulation whether requests that name no provider may get emulated processors
 * @param microvmToRemote whether a request for the local microVM may fall back to a remote provider
 */
public record SelectionPolicy(
    DeploymentMode mode,
    Isolation floor,
    boolean allowProcess,
    boolean allowEmulation,
    boolean microvmToRemote) {
  public static final SelectionPolicy DEFAULT =
      new SelectionPolicy(DeploymentMode.SELF_HOSTED, Isolation.CONTAINER, false, false, true);
}
