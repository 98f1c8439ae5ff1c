package dev.isola.engine.api.template;

import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Recipe;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.regex.Pattern;

/** Validates recipes before a build starts. */
final class RecipeValidator {
  private static final int LONGEST_TEXT = 128 * 1024;

  private static final Pattern VARIABLE = Pattern.compile("[^=\\x00]{1,256}");

  private RecipeValidator() {}

  /**
   * Validates a recipe.
   *
   * @throws dev.isola.spi.error.InvalidRequest naming the invalid step
   */
  static void check(Recipe recipe) {
    if (recipe.steps().size() > Recipe.MAX_STEPS) {
      throw refused("steps", "a recipe has at most " + Recipe.MAX_STEPS + " steps");
    }
    int number = 0;
    for (BuildStep step : recipe.steps()) {
      number++;
      check(step, "steps[" + (number - 1) + "]");
    }
    recipe.start().ifPresent(text -> checkText(text, "start"));
    recipe.ready().ifPresent(text -> checkText(text, "ready"));
  }

  private static void check(BuildStep step, String field) {
    checkText(step.text(), field);
    switch (step) {
      case BuildStep.Run run -> require(!run.command().isBlank(), field, "a command is missing");
      case BuildStep.Copy copy -> {
        require(
            Uploads.isSha256(copy.archive()), field, "archive must be a SHA-256 in hexadecimal");
        require(!copy.destination().isEmpty(), field, "a destination is missing");
      }
      case BuildStep.Env env ->
          require(
              env.variables().keySet().stream().allMatch(name -> VARIABLE.matcher(name).matches()),
              field,
              "a variable name must not be empty or contain =");
      case BuildStep.Workdir workdir ->
          require(!workdir.path().isBlank(), field, "a path is missing");
      case BuildStep.User user -> require(!user.name().isBlank(), field, "a user is missing");
      case BuildStep.Packages packages -> {
        List<String> names = packages.names();
        require(!names.isEmpty(), field, "packages are missing");
        for (String name : names) {
          require(packages.installer().isPackage(name), field, "'" + name + "' is not a package");
        }
      }
    }
  }

  private static void checkText(String text, String field) {
    require(
        text.length() <= LONGEST_TEXT, field, "it is longer than " + LONGEST_TEXT + " characters");
    require(text.indexOf('\0') < 0, field, "it contains a NUL character");
  }

  private static void require(boolean right, String field, String why) {
    if (!right) {
      throw refused(field, why);
    }
  }

  private static RuntimeException refused(String field, String why) {
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            "the recipe is invalid at " + field + ": " + why,
            "correct the recipe")
        .with("field", field)
        .exception();
  }
}
