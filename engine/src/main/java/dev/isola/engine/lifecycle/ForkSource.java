package dev.isola.engine.lifecycle;

import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Sandbox;
import java.util.function.Consumer;

/**
 * The files that a fork begins with.
 *
 * @param workspace shared with its source
 * @param rest brings what the source wrote elsewhere into a fork that was made
 */
public record ForkSource(Forking.ForkPoint workspace, Consumer<Sandbox> nonWorkspaceFiles) {}
