package dev.isola.testing.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A repository of one module that was built, whose class path has one library. */
final class MavenBuildTest {
  @TempDir Path folder;
  private Path repository;
  private Path log;
  private Module module;

  @BeforeEach
  void createRepository() throws IOException {
    repository = Files.createDirectories(folder.resolve("repository"));
    log = folder.resolve("build.log");
    write("pom.xml", "<project><modules><module>base</module></modules></project>");
    write("base/pom.xml", "<project><artifactId>base</artifactId></project>");
    write("base/src/main/java/Base.java", "class Base {}");
    write("library.jar", "");
    Commands.run(repository, List.of("git", "init", "-q"));
    module = Module.read(repository).getFirst();
    write("base/target/check/build.key", keys().build(module));
    write("base/target/check/classpath", repository.resolve("library.jar").toString());
  }

  @Test
  void mavenIsNotStartedWhereEverythingIsBuilt() throws IOException {
    List<Module> ready = new ArrayList<>();
    assertThat(build(true).run(List.of(module), log, ready::add)).isZero();
    assertThat(ready).containsExactly(module);
    assertThat(log).doesNotExist();
  }

  @Test
  void aChangedModuleIsNotComplete() throws IOException {
    write("base/src/main/java/Base.java", "class Base { int i; }");
    assertThat(build(true).isComplete(List.of(module))).isFalse();
  }

  @Test
  void aModuleWithoutALibraryIsNotComplete() throws IOException {
    Files.delete(repository.resolve("library.jar"));
    assertThat(build(true).isComplete(List.of(module))).isFalse();
  }

  @Test
  void nothingIsCompleteWhenNothingIsReused() throws IOException {
    assertThat(build(true).isComplete(List.of(module))).isTrue();
    assertThat(build(false).isComplete(List.of(module))).isFalse();
  }

  private MavenBuild build(boolean reuse) throws IOException {
    ResultCache cache = new ResultCache(folder.resolve("cache"));
    Path jdk = Path.of(System.getProperty("java.home"));
    return new MavenBuild(repository, jdk, keys(), cache, reuse);
  }

  private ModuleKeys keys() throws IOException {
    return new ModuleKeys(
        SourceFiles.read(repository), Module.read(repository), "tools", "machine");
  }

  private void write(String name, String text) throws IOException {
    Path file = repository.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
