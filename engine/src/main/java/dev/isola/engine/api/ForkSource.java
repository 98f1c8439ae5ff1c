package dev.isola.engine.api;

import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Sandbox;
import java.util.function.Consumer;

/**
 * The state that a fork starts with.
 *
 * @param point the workspace shared with the source, or the saved processes and files of the source
 * @param otherFiles copies the files that are not part of the fork point into a new fork
 */
public record ForkSource(Forking.ForkPoint point, Consumer<Sandbox> otherFiles) {
  /** Returns the source of forks that already have everything: their processes are running. */
  public static ForkSource ofMemory(Forking.ForkPoint point) {
    return new ForkSource(point, fork -> {});
  }
}
