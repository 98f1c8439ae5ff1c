package dev.isola.testing.runner;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Compiles modules with Maven, except those of which a build with the same key is there.
 *
 * <p>Keys decide alone: Maven compiles what has no classes, and is not started where the last build
 * left everything.
 */
final class MavenBuild {
  private final Path repository;
  private final Path jdk;
  private final ModuleKeys keys;
  private final ResultCache cache;
  private final boolean reuse;

  MavenBuild(Path repository, Path jdk, ModuleKeys keys, ResultCache cache, boolean reuse) {
    this.repository = repository;
    this.jdk = jdk;
    this.keys = keys;
    this.cache = cache;
    this.reuse = reuse;
  }

  /**
   * Builds modules, in the order of the root pom.
   *
   * @param listener is passed each module as soon as it is built
   * @return the exit status of Maven
   */
  int run(List<Module> modules, Path log, Consumer<Module> listener) throws IOException {
    if (isComplete(modules)) {
      System.out.printf("check: all %d modules are built%n", modules.size());
      modules.forEach(listener);
      return 0;
    }
    List<Module> compiled = new ArrayList<>();
    for (Module module : modules) {
      if (!isPresent(module)) {
        compiled.add(module);
      }
      Files.deleteIfExists(classPathFile(module));
      Files.createDirectories(module.state());
    }
    System.out.printf("check: compiling %d of %d modules%n", compiled.size(), modules.size());
    int status = maven(modules, log, listener);
    ModuleKeys after = keys.readAgain();
    for (Module module : compiled) {
      // A source that was changed meanwhile may have been compiled in either form.
      if (succeeded(module) && after.build(module).equals(keys.build(module))) {
        writeKeys(module);
        cache.saveBuild(keys.build(module), module);
      }
    }
    return status;
  }

  private void writeKeys(Module module) throws IOException {
    Files.createDirectories(module.state());
    Files.writeString(module.state().resolve("build.key"), keys.build(module));
    Files.writeString(module.state().resolve("main.key"), keys.main(module));
  }

  /** Returns the class path of the module's tests, after a build of it that succeeded. */
  static List<Path> classPath(Module module) throws IOException {
    List<Path> all = new ArrayList<>();
    all.add(module.folder().resolve("target/test-classes"));
    all.add(module.folder().resolve("target/classes"));
    for (String entry : Files.readString(classPathFile(module)).split(File.pathSeparator)) {
      if (!entry.isBlank()) {
        all.add(Path.of(entry.strip()));
      }
    }
    return all;
  }

  /** Returns whether the last build of the module succeeded. */
  static boolean succeeded(Module module) {
    return Files.exists(classPathFile(module));
  }

  private static Path classPathFile(Module module) {
    return module.state().resolve("classpath");
  }

  /** Returns whether the last build in this clone left all of these modules as they would be. */
  boolean isComplete(Collection<Module> modules) throws IOException {
    for (Module module : modules) {
      if (!reuse
          || !isBuiltHere(module)
          || !succeeded(module)
          || !classPath(module).stream().skip(2).allMatch(Files::exists)) {
        return false;
      }
    }
    return true;
  }

  private boolean isBuiltHere(Module module) throws IOException {
    return read(module.state().resolve("build.key")).equals(keys.build(module));
  }

  /** Returns whether the module is built already, here or in the cache; if not, clears the way. */
  private boolean isPresent(Module module) throws IOException {
    Path target = module.folder().resolve("target");
    if (reuse && isBuiltHere(module)) {
      return true;
    }
    if (reuse && cache.hasBuild(keys.build(module))) {
      delete(target);
      cache.restoreBuild(keys.build(module), module);
      writeKeys(module);
      return true;
    }
    if (reuse && read(module.state().resolve("main.key")).equals(keys.main(module))) {
      delete(target.resolve("test-classes"));
      Files.deleteIfExists(module.state().resolve("build.key"));
    } else {
      delete(target);
    }
    return false;
  }

  private static String read(Path file) throws IOException {
    return Files.exists(file) ? Files.readString(file) : "";
  }

  private int maven(Collection<Module> modules, Path log, Consumer<Module> listener)
      throws IOException {
    List<String> command = new ArrayList<>(List.of("mvn", "-B", "-ntp", "-T", "3"));
    command.addAll(List.of("--fail-at-end", "-f", repository.resolve("pom.xml").toString()));
    command.addAll(List.of("-pl", String.join(",", modules.stream().map(Module::name).toList())));
    command.add("-DskipTests");
    command.add("-Dmaven.compiler.useIncrementalCompilation=false");
    command.addAll(List.of("package", "dependency:build-classpath"));
    command.add("-Dmdep.outputFile=target/check/classpath");
    ProcessBuilder maven = new ProcessBuilder(command).directory(repository.toFile());
    maven.environment().put("JAVA_HOME", jdk.toString());
    maven.environment().put("MAVEN_OPTS", String.join(" ", mavenOptions()));
    maven.redirectErrorStream(true).redirectOutput(log.toFile());
    maven.redirectInput(new File("/dev/null"));
    Process process = maven.start();
    Set<Module> announced = new HashSet<>();
    try {
      for (boolean ended = false; !ended; ) {
        ended = process.waitFor(1, TimeUnit.SECONDS);
        // The class path of a module is the last that Maven writes; what is a second old is
        // complete.
        Instant written = Instant.now().minusSeconds(ended ? 0 : 1);
        for (Module module : modules) {
          if (succeeded(module)
              && !Files.getLastModifiedTime(classPathFile(module)).toInstant().isAfter(written)
              && announced.add(module)) {
            listener.accept(module);
          }
        }
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      process.destroy();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private static List<String> mavenOptions() {
    List<String> options =
        new ArrayList<>(
            List.of(
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-XX:+UseParallelGC"));
    String own = System.getenv("MAVEN_OPTS");
    if (own != null) {
      options.add(own);
    }
    return options;
  }

  private static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> all = Files.walk(folder)) {
      all.sorted(Comparator.reverseOrder())
          .forEach(
              path -> {
                try {
                  Files.delete(path);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
    }
  }

  /** Returns the lines of Maven's log that say what is wrong. */
  static List<String> errors(Path log) throws IOException {
    return Files.readAllLines(log).stream()
        .filter(line -> line.matches(".*(ERROR|error:|WARNING. .*[.]java:.[0-9]).*"))
        .filter(line -> !line.matches(".*(Re-run|re-run|Help|For more|After corr|mvn <).*"))
        .filter(line -> !line.matches("\\[ERROR] *"))
        .distinct()
        .limit(40)
        .toList();
  }
}
