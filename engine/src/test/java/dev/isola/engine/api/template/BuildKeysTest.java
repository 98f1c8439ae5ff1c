package dev.isola.engine.api.template;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Installer;
import dev.isola.document.recipe.Recipe;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BuildKeysTest {
  private static final String BASE = BuildKeys.base("sha256:1", Recipe.Defaults.NONE, false);
  private static final String FILES = "a".repeat(64);

  private static String key(BuildStep... steps) {
    return BuildKeys.of(BASE, List.of(steps)).getLast();
  }

  private static Recipe.Defaults defaults(Map<String, String> env, String user, String cwd) {
    return new Recipe.Defaults(env, user, cwd, Optional.empty(), Optional.empty());
  }

  @Test
  void sameStepsHaveTheSameKeys() {
    List<BuildStep> steps =
        List.of(new BuildStep.Run("make"), new BuildStep.Copy(FILES, ".", "/app"));
    assertThat(BuildKeys.of(BASE, steps)).isEqualTo(BuildKeys.of(BASE, steps)).hasSize(2);
  }

  @Test
  void keyCoversEveryInputOfAStep() {
    List<String> keys =
        Stream.of(
                key(new BuildStep.Run("make")),
                key(new BuildStep.Run("make all")),
                key(new BuildStep.Run("make", Optional.of("user"))),
                key(new BuildStep.User("make")),
                key(new BuildStep.Workdir("make")),
                key(new BuildStep.Packages(List.of("make"))),
                key(new BuildStep.Packages(List.of("make", "all"))),
                key(new BuildStep.Packages(Installer.APT, List.of("make"))),
                key(new BuildStep.Packages(Installer.PIP, List.of("make"))),
                key(new BuildStep.Packages(Installer.NPM, List.of("make"))),
                key(new BuildStep.Packages(List.of("apt", "make"))),
                key(new BuildStep.Env(Map.of("A", "1 B=2"))),
                key(new BuildStep.Env(Map.of("A", "1", "B", "2"))),
                key(new BuildStep.Env(Map.of())),
                key(new BuildStep.Copy(FILES, ".", "/app")),
                key(new BuildStep.Copy("b".repeat(64), ".", "/app")),
                key(new BuildStep.Copy(FILES, "./app", "")),
                key(new BuildStep.Copy(FILES, ".", "/app", Optional.of("user"), Optional.empty())),
                key(new BuildStep.Copy(FILES, ".", "/app", Optional.empty(), Optional.of("user"))),
                key(new BuildStep.Run("a"), new BuildStep.Run("make")))
            .toList();
    assertThat(keys).doesNotHaveDuplicates();
  }

  @Test
  void baseKeyCoversImageAndDefaults() {
    assertThat(
            List.of(
                BASE,
                BuildKeys.base("sha256:2", Recipe.Defaults.NONE, false),
                BuildKeys.base("sha256:1", defaults(Map.of("A", "B"), "", ""), false),
                BuildKeys.base("sha256:1", defaults(Map.of(), "A", "B"), false),
                BuildKeys.base("sha256:1", defaults(Map.of(), "AB", ""), false),
                BuildKeys.base("sha256:1", Recipe.Defaults.NONE, true)))
        .doesNotHaveDuplicates();
    assertThat(BuildKeys.of(BASE, List.of(new BuildStep.Run("make"))))
        .isNotEqualTo(
            BuildKeys.of(
                BuildKeys.base("sha256:2", Recipe.Defaults.NONE, false),
                List.of(new BuildStep.Run("make"))));
  }

  @Test
  void changedStepChangesOnlyItsKeyAndLaterOnes() {
    List<String> one =
        BuildKeys.of(
            BASE, List.of(new BuildStep.Run("a"), new BuildStep.Run("b"), new BuildStep.Run("c")));
    List<String> two =
        BuildKeys.of(
            BASE, List.of(new BuildStep.Run("a"), new BuildStep.Run("x"), new BuildStep.Run("c")));
    assertThat(one.getFirst()).isEqualTo(two.getFirst());
    assertThat(one.subList(1, 3)).doesNotContainAnyElementsOf(two.subList(1, 3));
  }
}
