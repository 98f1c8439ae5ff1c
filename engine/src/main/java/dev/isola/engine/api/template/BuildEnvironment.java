package dev.isola.engine.api.template;

import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Recipe;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The variables, the user and the working directory that the steps of a build have set. */
final class BuildEnvironment {
  private final Map<String, String> env = new LinkedHashMap<>();
  private String user;
  private String cwd;

  /**
   * @param from the defaults of the base
   */
  BuildEnvironment(Recipe.Defaults from) {
    env.putAll(from.env());
    user = from.user();
    cwd = from.cwd();
  }

  Map<String, String> env() {
    return Map.copyOf(env);
  }

  String user() {
    return user;
  }

  String cwd() {
    return cwd;
  }

  /** Applies the settings of a step. */
  void apply(BuildStep step) {
    switch (step) {
      case BuildStep.Env variables -> env.putAll(variables.variables());
      case BuildStep.Workdir workdir -> cwd = absolute(workdir.path());
      case BuildStep.User next -> user = next.name();
      case BuildStep.Run _, BuildStep.Copy _, BuildStep.Packages _ -> {}
    }
  }

  String absolute(String path) {
    return path.startsWith("/") ? path : (cwd.endsWith("/") ? cwd : cwd + "/") + path;
  }

  /** Returns the defaults of sandboxes after the last step. */
  Recipe.Defaults defaults(Optional<String> start, Optional<String> ready) {
    return new Recipe.Defaults(env, user, cwd, start, ready);
  }
}
