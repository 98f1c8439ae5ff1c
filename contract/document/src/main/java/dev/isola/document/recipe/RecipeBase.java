package dev.isola.document.recipe;

/** What a build begins with. */
public sealed interface RecipeBase {

  /** An image of the installation, or one that the provider finds by this name. */
  record Image(String name) implements RecipeBase {}

  /** A template that is built: its files, variables, user, folder, start and ready command. */
  record Template(String name) implements RecipeBase {}

  /** What a sandbox has that names no image. */
  record None() implements RecipeBase {}
}
