package dev.isola.engine.selection;

import dev.isola.spi.Isolation;

/**
 * What the installation allows, whatever is asked for.
 *
 * @param floor the least isolation; nothing weaker is ever used
 * @param allowProcess whether a request that names no provider may fall to isolation {@code
 *     process}
 * @param e2bKey whether E2B's key is configured
 * @param microvmToE2b whether a request for the local microVM may fall back to E2B
 */
public record Policy(
    DeploymentMode mode,
    Isolation floor,
    boolean allowProcess,
    boolean e2bKey,
    boolean microvmToE2b) {
  public static final Policy DEFAULT =
      new Policy(DeploymentMode.SELF_HOSTED, Isolation.CONTAINER, false, false, true);
}
