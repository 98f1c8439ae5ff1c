package dev.isola.engine.template;

import dev.isola.document.recipe.Recipe;
import java.util.Optional;

/**
 * What a build begins with, once it is there.
 *
 * @param image as a spec names it; empty for the root of the provider
 * @param key of what is cached; empty where nothing is
 */
record BuildBase(Optional<String> image, Recipe.Defaults defaults, Optional<String> key) {}
