package dev.isola.document.recipe;

import java.util.List;
import java.util.Optional;

/**
 * How a template is built.
 *
 * @param start command that runs in each sandbox made from the template, in the background
 * @param ready command that is repeated after the start command until it exits with 0
 * @param cpu limit of each sandbox made from the template, in cores
 * @param memoryMb limit of each sandbox made from the template
 */
public record Recipe(
    RecipeBase base,
    List<Step> steps,
    Optional<String> start,
    Optional<String> ready,
    Optional<Double> cpu,
    Optional<Long> memoryMb) {
  /** How many steps a recipe may have. */
  public static final int MOST_STEPS = 1000;

  public Recipe {
    steps = List.copyOf(steps);
  }

  /** A recipe of an image and nothing else. */
  public static Recipe of(RecipeBase base, Step... steps) {
    return new Recipe(
        base,
        List.of(steps),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }
}
