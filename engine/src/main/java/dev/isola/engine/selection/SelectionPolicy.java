package dev.isola.engine.selection;

import dev.isola.spi.Isolation;

/**
 * What the installation allows, whatever is asked for.
 *
 * @param floor the least isolation; nothing weaker is ever used
 * @param allowProcess whether a request that names no provider may fall to isolation {@code
 *     process}
 * @param microvmToRemote whether a request for the local microVM may fall back to a remote provider
 */
public record SelectionPolicy(
    DeploymentMode mode, Isolation floor, boolean allowProcess, boolean microvmToRemote) {
  public static final SelectionPolicy DEFAULT =
      new SelectionPolicy(DeploymentMode.SELF_HOSTED, Isolation.CONTAINER, false, true);
}
