package dev.isola.server.api;

import dev.isola.document.recipe.Recipe;
import dev.isola.server.route.MatchingText;
import dev.isola.server.route.ScalarShape;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;

/**
 * Shapes of the recipe of a template. {@link dev.isola.document.RecipeDocument} reads and validates
 * it; a test compares the two.
 */
final class RecipeShapes {
  private static final Shape COMMAND = new Shape.NonEmptyText(64 * 1024);
  private static final Shape NAME = new Shape.NonEmptyText(512);
  private static final Shape PATH = new Shape.NonEmptyText(4096);
  private static final Shape ACCOUNT =
      new MatchingText(
          "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,63})?$",
          129,
          "must be a user, or user:group",
          "agent");
  private static final Shape PACKAGES =
      new Shape.ListOf(
          new MatchingText(
              "^[A-Za-z0-9]([A-Za-z0-9+._:~=-]{0,126}[A-Za-z0-9+._~])?$",
              128,
              "is not the name of a package",
              "git"),
          500);
  private static final Shape PIP =
      new Shape.ListOf(
          new MatchingText(
              "^[A-Za-z0-9][A-Za-z0-9._\\[\\],<>=!~*+@:/ -]{0,254}$",
              255,
              "is not the name of a package",
              "requests==2.32"),
          500);
  private static final Shape NPM =
      new Shape.ListOf(
          new MatchingText(
              "^@?[A-Za-z0-9][A-Za-z0-9._@/^~<>=*|:+-]{0,213}$",
              215,
              "is not the name of a package",
              "typescript"),
          500);
  private static final Shape ENV =
      new Shape.MapOf(
          new ScalarShape(),
          new MatchingText(
              "^[A-Za-z_][A-Za-z0-9_]{0,255}$",
              256,
              "must be the name of an environment variable",
              "LANG"));
  private static final Shape CORES = new Shape.WholeNumber(1, 1024);
  private static final Shape MEGABYTES = new Shape.WholeNumber(4, 64L << 20);

  private static final Shape COPY =
      new Shape.Obj(
              Field.required("from", PATH, "path or pattern in the archive").example("src"),
              Field.required("to", PATH, "path in the image").example("src"),
              Field.optional("owner", ACCOUNT, "owner of the copied files"),
              Field.optional(
                  "mode",
                  new MatchingText("^[0-7]{3,4}$", 4, "must be permission bits", "0755"),
                  "permission bits of the copied files"),
              Field.required(
                  "archive", TemplateBuildRoutes.SHA256, "SHA-256 of the uploaded archive"))
          .named("RecipeCopy");

  private static final Shape STEP =
      new Shape.Obj(
              Field.optional("run", COMMAND, "a command line"),
              Field.optional("copy", COPY, "files of an uploaded archive"),
              Field.optional("env", ENV, "environment of the following steps and of sandboxes"),
              Field.optional("packages", PACKAGES, "packages of the distribution"),
              Field.optional("apt", PACKAGES, "packages of Debian"),
              Field.optional("pip", PIP, "packages of Python"),
              Field.optional("npm", NPM, "packages of npm, installed globally"),
              Field.optional("workdir", PATH, "working directory of the following steps"),
              Field.optional("user", ACCOUNT, "user of the following steps, or of run"))
          .named("RecipeStep");

  static final Shape.Obj RECIPE =
      new Shape.Obj(
              Field.optional("base", NAME, "an image"),
              Field.optional("template", NAME, "a template, instead of base"),
              Field.optional("env", ENV, "environment of the steps and of sandboxes"),
              Field.optional("packages", PACKAGES, "packages of the distribution"),
              Field.optional("apt", PACKAGES, "packages of Debian"),
              Field.optional("pip", PIP, "packages of Python"),
              Field.optional("npm", NPM, "packages of npm, installed globally"),
              Field.optional("user", ACCOUNT, "user of the steps and of sandboxes"),
              Field.optional("workdir", PATH, "working directory"),
              Field.optional("steps", new Shape.ListOf(STEP, Recipe.MAX_STEPS), "in this order"),
              Field.optional("start", COMMAND, "command that runs in the background of sandboxes"),
              Field.optional(
                  "ready",
                  COMMAND,
                  "command that is repeated until it succeeds, before a create request returns"),
              Field.optional("cpu", CORES, "CPU cores of sandboxes"),
              Field.optional("memoryMb", MEGABYTES, "memory of sandboxes in MB"),
              Field.deprecated("image", NAME, "use base instead"),
              Field.deprecated("memory", MEGABYTES, "use memoryMb instead"))
          .named("Recipe");

  private RecipeShapes() {}
}
