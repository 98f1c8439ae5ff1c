package dev.isola.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Installer;
import dev.isola.document.recipe.Recipe;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The document form of a recipe. */
class RecipeDocumentTest {
  private static final String ARCHIVE = "0123456789abcdef".repeat(4);

  private static Map<String, Object> full() {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("base", "python:3.14");
    document.put("env", Map.of("PORT", 8000));
    document.put("packages", List.of("git", "libssl3=3.0.1-1~deb12"));
    document.put("user", "agent");
    document.put("workdir", "/app");
    document.put(
        "steps",
        List.of(
            Map.of(
                "copy",
                Map.of(
                    "from",
                    "src",
                    "to",
                    ".",
                    "owner",
                    "agent:agent",
                    "mode",
                    "0755",
                    "archive",
                    ARCHIVE)),
            Map.of("run", "make", "user", "root"),
            Map.of("run", "make test"),
            Map.of("env", Map.of("MODE", "fast")),
            Map.of("workdir", "out"),
            Map.of("user", "1000"),
            Map.of("packages", List.of("curl"))));
    document.put("start", "./serve");
    document.put("ready", "curl -sf localhost:8000");
    document.put("cpu", 2);
    document.put("memoryMb", 2048);
    return document;
  }

  @Test
  void topLevelFieldsBecomeTheFirstSteps() {
    assertThat(RecipeDocument.fromMap(full()))
        .isEqualTo(
            new Recipe(
                new Recipe.Base.Image("python:3.14"),
                List.of(
                    new BuildStep.Env(Map.of("PORT", "8000")),
                    new BuildStep.Packages(List.of("git", "libssl3=3.0.1-1~deb12")),
                    new BuildStep.User("agent"),
                    new BuildStep.Workdir("/app"),
                    new BuildStep.Copy(
                        ARCHIVE, "src", ".", Optional.of("agent:agent"), Optional.of("0755")),
                    new BuildStep.Run("make", Optional.of("root")),
                    new BuildStep.Run("make test", Optional.empty()),
                    new BuildStep.Env(Map.of("MODE", "fast")),
                    new BuildStep.Workdir("out"),
                    new BuildStep.User("1000"),
                    new BuildStep.Packages(List.of("curl"))),
                Optional.of("./serve"),
                Optional.of("curl -sf localhost:8000"),
                Optional.of(2L),
                Optional.of(2048L)));
  }

  @Test
  void writtenRecipeIsReadBackAsItWas() {
    Recipe recipe = RecipeDocument.fromMap(full());
    assertThat(RecipeDocument.fromMap(RecipeDocument.toMap(recipe))).isEqualTo(recipe);
    Recipe derived = RecipeDocument.fromMap(Map.of("template", "tools"));
    assertThat(derived.base()).isEqualTo(new Recipe.Base.FromTemplate("tools"));
    assertThat(RecipeDocument.fromMap(RecipeDocument.toMap(derived))).isEqualTo(derived);
  }

  @Test
  void allViolationsAreReportedWithTheirPath() {
    assertRefused(
        Map.of(
            "bse",
            "debian:12",
            "packages",
            List.of("git", "--allow-unauthenticated"),
            "cpu",
            0,
            "memoryMb",
            "much",
            "steps",
            List.of(
                Map.of("runn", "make"),
                Map.of("run", "a", "workdir", "b"),
                Map.of("copy", Map.of("from", "a", "mode", "rwx", "archive", ARCHIVE)),
                "make",
                Map.of())),
        "base is missing",
        "bse is not a field, did you mean 'base'?",
        "packages[1] is not the name of a package",
        "cpu must be 1 to 1024",
        "memoryMb must be a number",
        "steps[0].runn is not a field, did you mean 'run'?",
        "steps[1] has run and workdir; write one step for each",
        "steps[2].copy.to is missing",
        "steps[2].copy.mode must be permission bits",
        "steps[3] must be an object",
        "steps[4] must have one of run, copy, env, packages, apt, pip, npm, workdir, user");
  }

  @Test
  void baseAndTemplateExcludeEachOther() {
    assertRefused(
        Map.of("base", "debian:12", "template", "tools"), "template cannot be combined with base");
    assertRefused(Map.of("steps", List.of()), "base is missing");
  }

  @Test
  void readyRequiresStart() {
    assertRefused(Map.of("base", "x", "ready", "true"), "ready requires start");
    assertThat(RecipeDocument.fromMap(Map.of("template", "x", "ready", "true")).ready())
        .contains("true");
  }

  @ParameterizedTest
  @ValueSource(strings = {"../secret", "a/../../b", "..", "/etc/passwd", " ", "a\0b"})
  void sourceOfACopyStaysWithinTheArchive(String from) {
    assertRefused(
        Map.of("base", "x", "steps", List.of(copy(Map.of("from", from, "archive", ARCHIVE)))),
        "steps[0].copy.from");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "abc", "../../../../etc/passwd", "ABCDEF"})
  void archiveIsASha256(String archive) {
    assertRefused(
        Map.of("base", "x", "steps", List.of(copy(Map.of("from", ".", "archive", archive)))),
        "steps[0].copy.archive must be the SHA-256");
  }

  @Test
  void archiveIsOptionalOnlyBeforeUpload() {
    Map<String, Object> document = Map.of("base", "x", "steps", List.of(copy(Map.of("from", "."))));
    RecipeDocument.check(document);
    assertRefused(document, "steps[0].copy.archive is missing");
  }

  @ParameterizedTest
  @ValueSource(strings = {"-rf", "a b", "a;b", "$(id)", ":", "a:b:c", ""})
  void accountsAreNamesAndNotOptions(String name) {
    assertRefused(
        Map.of(
            "base",
            "x",
            "user",
            name,
            "steps",
            List.of(copy(Map.of("from", ".", "archive", ARCHIVE, "owner", name)))),
        "user must be a user",
        "steps[0].copy.owner must be a user");
  }

  @Test
  void valuesOfVariablesAreNotInMessages() {
    assertRefused(
        Map.of("base", "x", "env", Map.of("A B", "planted-value", "C", "planted\0value")),
        "env has an invalid name: 'A B'",
        "env.C contains a NUL");
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(
            () ->
                RecipeDocument.fromMap(
                    Map.of("base", "x", "env", Map.of("A", List.of("planted-value")))))
        .satisfies(e -> assertThat(e.toString()).doesNotContain("planted"));
  }

  @Test
  void hugeRecipesAreRejectedWithABoundedMessage() {
    assertRefused(
        Map.of("base", "x", "steps", Collections.nCopies(1_000_000, "nonsense")),
        "steps has more than 1000 steps");
    assertRefused(
        Map.of("base", "x", "packages", Collections.nCopies(1_000_000, "-")),
        "packages has more than 500 names");
    List<Object> wrong =
        IntStream.range(0, 1000)
            .<Object>mapToObj(i -> Map.of("packages", Collections.nCopies(500, "-")))
            .toList();
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(() -> RecipeDocument.fromMap(Map.of("base", "x", "steps", wrong)))
        .withMessageContaining("and 499900 more")
        .satisfies(e -> assertThat(e.fault().context()).hasSize(100));
    assertRefused(
        Map.of("base", "x", "steps", List.of(Map.of("run", "x".repeat(65_537)))),
        "steps[0].run is longer than 65536 characters");
  }

  private static Map<String, Object> copy(Map<String, Object> fields) {
    Map<String, Object> all = new LinkedHashMap<>(fields);
    all.put("to", "/app");
    return Map.of("copy", all);
  }

  private static void assertRefused(Map<String, Object> document, String... problems) {
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(() -> RecipeDocument.fromMap(document))
        .satisfies(
            e -> {
              assertThat(e.code()).isEqualTo(ErrorCode.INVALID_REQUEST);
              assertThat(e.fault().problem())
                  .startsWith("the recipe is invalid: ")
                  .contains(problems);
            });
  }

  @Test
  void installersAreStepsOfTheirOwn() {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("base", "base");
    document.put("npm", List.of("@types/node@^20"));
    document.put("apt", List.of("python3-pip"));
    document.put("pip", List.of("uvicorn[standard]>=0.3", "django == 4"));
    document.put(
        "steps", List.of(Map.of("pip", List.of("requests")), Map.of("apt", List.of("jq"))));
    assertThat(RecipeDocument.check(document).steps())
        .containsExactly(
            new BuildStep.Packages(Installer.APT, List.of("python3-pip")),
            new BuildStep.Packages(Installer.PIP, List.of("uvicorn[standard]>=0.3", "django == 4")),
            new BuildStep.Packages(Installer.NPM, List.of("@types/node@^20")),
            new BuildStep.Packages(Installer.PIP, List.of("requests")),
            new BuildStep.Packages(Installer.APT, List.of("jq")));
    assertThat(RecipeDocument.toMap(RecipeDocument.check(document)).get("steps"))
        .asString()
        .contains("{apt=[python3-pip]}", "{npm=[@types/node@^20]}");
    for (String option : List.of("--index-url=x", "-r", "", "a\nb", "$(id)")) {
      for (String installer : List.of("apt", "pip", "npm")) {
        assertThatExceptionOfType(InvalidRequest.class)
            .as(installer + " " + option)
            .isThrownBy(() -> RecipeDocument.check(Map.of("base", "b", installer, List.of(option))))
            .satisfies(e -> assertThat(e.fault().problem()).contains(installer + "[0]"));
      }
    }
  }
}
