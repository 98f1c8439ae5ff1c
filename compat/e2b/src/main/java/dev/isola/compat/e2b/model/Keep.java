package dev.isola.compat.e2b.model;

import dev.isola.engine.api.Settings;
import java.nio.file.Path;

/**
 * What of E2B's world outlives the server.
 *
 * @param folder for what clients upload
 */
public record Keep(Settings settings, Path folder) {}
