package dev.isola.testing.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A repository of three modules: {@code top} uses {@code base}; {@code other} reads a page. */
final class ModuleKeysTest {
  private static final Options CHECK = Options.parse(List.of(), false);

  @TempDir Path repository;

  @BeforeEach
  void createRepository() throws IOException {
    write(
        "pom.xml",
        "<project><modules><module>base</module><module>top</module><module>other</module>"
            + "</modules></project>");
    write("base/pom.xml", pom("base", "", ""));
    write("top/pom.xml", pom("top", "<dependency><artifactId>base</artifactId></dependency>", ""));
    write("other/pom.xml", pom("other", "", "<isola.test.inputs>page.md</isola.test.inputs>"));
    write("base/src/main/java/Base.java", "class Base {}");
    write("base/src/test/java/BaseTest.java", "class BaseTest {}");
    write("page.md", "a page");
    Commands.run(repository, List.of("git", "init", "-q"));
  }

  @Test
  void nothingChangesWithoutAChange() throws IOException {
    assertThat(changes(() -> {})).isEmpty();
  }

  @Test
  void aChangedProgramChangesWhatUsesIt() throws IOException {
    assertThat(changes(() -> write("base/src/main/java/Base.java", "class Base { int i; }")))
        .containsExactly(
            "base build", "base main", "base test", "top build", "top main", "top test");
  }

  @Test
  void aChangedTestChangesItsModuleOnly() throws IOException {
    assertThat(
            changes(() -> write("base/src/test/java/BaseTest.java", "class BaseTest { int i; }")))
        .containsExactly("base build", "base test");
  }

  @Test
  void inputsOutsideChangeTheResultsOnly() throws IOException {
    assertThat(changes(() -> write("page.md", "another page"))).containsExactly("other test");
  }

  @Test
  void theRootPomChangesEverything() throws IOException {
    assertThat(
            changes(() -> write("pom.xml", Files.readString(repository.resolve("pom.xml")) + " ")))
        .hasSize(9);
  }

  @Test
  void toolsAndTierArePartOfTheKeys() throws IOException {
    Module base = Module.read(repository).getFirst();
    ModuleKeys one = keys("jdk 25", "bwrap 1");
    assertThat(keys("jdk 26", "bwrap 1").main(base)).isNotEqualTo(one.main(base));
    assertThat(keys("jdk 25", "bwrap 2").main(base)).isEqualTo(one.main(base));
    assertThat(keys("jdk 25", "bwrap 2").test(base, CHECK)).isNotEqualTo(one.test(base, CHECK));
    assertThat(one.test(base, Options.parse(List.of("--all"), false)))
        .isNotEqualTo(one.test(base, CHECK));
  }

  @Test
  void changedFilesHaveOwnersAndDependents() throws IOException {
    ModuleKeys keys = keys("", "");
    assertThat(keys.owners(Set.of("base/src/main/java/Base.java"))).containsExactly("base");
    assertThat(keys.owners(Set.of("page.md"))).containsExactly("other");
    assertThat(keys.owners(Set.of("base/README.md"))).isEmpty();
    assertThat(keys.owners(Set.of("pom.xml"))).containsExactlyInAnyOrder("base", "top", "other");
    assertThat(keys.withDependents(Set.of("base"))).containsExactly("base", "top");
    assertThat(keys.withDependencies(Set.of("top"))).containsExactly("base", "top");
  }

  /** Changes files. */
  private interface Change {
    void make() throws IOException;
  }

  /** Returns the keys that {@code change} changes. */
  private List<String> changes(Change change) throws IOException {
    Map<String, String> before = all();
    change.make();
    Map<String, String> after = all();
    return before.entrySet().stream()
        .filter(one -> !one.getValue().equals(after.get(one.getKey())))
        .map(Map.Entry::getKey)
        .toList();
  }

  private Map<String, String> all() throws IOException {
    ModuleKeys keys = keys("jdk", "machine");
    Map<String, String> all = new TreeMap<>();
    for (Module module : Module.read(repository)) {
      all.put(module.name() + " main", keys.main(module));
      all.put(module.name() + " build", keys.build(module));
      all.put(module.name() + " test", keys.test(module, CHECK));
    }
    return all;
  }

  private ModuleKeys keys(String tools, String machine) throws IOException {
    return new ModuleKeys(
        SourceFiles.read(repository), Module.read(repository), tools, tools + machine);
  }

  private static String pom(String name, String dependencies, String properties) {
    return """
    <project><artifactId>%s</artifactId><properties>%s</properties>
    <dependencies>%s</dependencies></project>
    """
        .formatted(name, properties, dependencies);
  }

  private void write(String name, String text) throws IOException {
    Path file = repository.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
