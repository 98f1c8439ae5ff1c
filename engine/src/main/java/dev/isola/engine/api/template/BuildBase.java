package dev.isola.engine.api.template;

import dev.isola.document.recipe.Recipe;
import java.util.Optional;

/**
 * The resolved base of a build.
 *
 * @param image the image reference; empty for the root file system of the provider
 * @param key the cache key; empty if nothing is cached
 * @param createUser whether to create the user of {@code defaults} if it is missing
 */
record BuildBase(
    Optional<String> image, Recipe.Defaults defaults, Optional<String> key, boolean createUser) {}
