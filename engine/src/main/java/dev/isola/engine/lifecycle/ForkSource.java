package dev.isola.engine.lifecycle;

import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Sandbox;
import java.util.function.Consumer;

/**
 * The files that a fork starts with.
 *
 * @param workspace the workspace, shared with the source
 * @param nonWorkspaceFiles copies the other files that the source wrote into a new fork
 */
public record ForkSource(Forking.ForkPoint workspace, Consumer<Sandbox> nonWorkspaceFiles) {}
