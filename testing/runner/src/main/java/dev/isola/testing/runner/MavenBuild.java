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
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Compiles modules with Maven, except those of which a build with the same key is there.
 *
 * <p>Keys decide alone: Maven compiles what has no classes. Error Prone and NullAway are turned on
 * for a module by files in {@code target/check}, which profiles of the root pom look for.
 */
final class MavenBuild {
  /** How strictly a module is compiled. Each includes the one before. */
  enum Strictness {
    /** The compiler's own warnings. */
    PLAIN,
    /** Error Prone and NullAway on the module's program. */
    MAIN,
    /** Error Prone and NullAway on its tests too. */
    TESTS
  }

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
   * Builds {@code wanted}, with its modules in the order of the root pom.
   *
   * @param listener is passed each module as soon as it is built
   * @return the exit status of Maven
   */
  int run(Map<Module, Strictness> wanted, Path log, Consumer<Module> listener) throws IOException {
    Set<Module> compiled = new TreeSet<>(Comparator.comparing(Module::name));
    for (Map.Entry<Module, Strictness> one : wanted.entrySet()) {
      if (!isPresent(one.getKey(), one.getValue())) {
        compiled.add(one.getKey());
      }
      Files.deleteIfExists(classPathFile(one.getKey()));
    }
    System.out.printf("check: compiling %d of %d modules%n", compiled.size(), wanted.size());
    int status;
    try {
      for (Module module : compiled) {
        Strictness strictness = wanted.getOrDefault(module, Strictness.PLAIN);
        mark(module, "strict", strictness.compareTo(Strictness.MAIN) >= 0);
        mark(module, "strict-tests", strictness == Strictness.TESTS);
      }
      status = maven(wanted.keySet(), log, listener);
    } finally {
      for (Module module : compiled) {
        mark(module, "strict", false);
        mark(module, "strict-tests", false);
      }
    }
    ModuleKeys after = keys.readAgain();
    for (Module module : compiled) {
      // A source that was changed meanwhile may have been compiled in either form.
      if (succeeded(module) && after.build(module).equals(keys.build(module))) {
        Strictness strictness = wanted.getOrDefault(module, Strictness.PLAIN);
        Files.writeString(module.state().resolve("build.key"), name(module, strictness));
        Files.writeString(module.state().resolve("main.key"), mainName(module, strictness));
        cache.saveBuild(name(module, strictness), module);
      }
    }
    return status;
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

  private String name(Module module, Strictness strictness) {
    return keys.build(module) + "-" + strictness;
  }

  private String mainName(Module module, Strictness strictness) {
    return keys.main(module) + "-" + (strictness == Strictness.PLAIN ? "plain" : "strict");
  }

  /** Returns whether the module is built already, here or in the cache; if not, clears the way. */
  private boolean isPresent(Module module, Strictness least) throws IOException {
    Path target = module.folder().resolve("target");
    String here = read(module.state().resolve("build.key"));
    String mainHere = read(module.state().resolve("main.key"));
    List<Strictness> enough =
        Stream.of(Strictness.values()).filter(one -> reuse && one.compareTo(least) >= 0).toList();
    if (enough.stream().anyMatch(one -> here.equals(name(module, one)))) {
      return true;
    }
    for (Strictness one : enough) {
      if (cache.hasBuild(name(module, one))) {
        delete(target);
        cache.restoreBuild(name(module, one), module);
        Files.createDirectories(module.state());
        Files.writeString(module.state().resolve("build.key"), name(module, one));
        Files.writeString(module.state().resolve("main.key"), mainName(module, one));
        return true;
      }
    }
    if (enough.stream().anyMatch(one -> mainHere.equals(mainName(module, one)))) {
      delete(target.resolve("test-classes"));
    } else {
      delete(target);
    }
    return false;
  }

  private static String read(Path file) throws IOException {
    return Files.exists(file) ? Files.readString(file) : "";
  }

  private static void mark(Module module, String name, boolean on) throws IOException {
    Path marker = Files.createDirectories(module.state()).resolve(name);
    if (on) {
      Files.writeString(marker, "");
    } else {
      Files.deleteIfExists(marker);
    }
  }

  private int maven(Collection<Module> modules, Path log, Consumer<Module> listener)
      throws IOException {
    List<String> command = new ArrayList<>(List.of("mvn", "-B", "-ntp", "-T", "3"));
    command.addAll(List.of("--fail-at-end", "-f", repository.resolve("pom.xml").toString()));
    command.addAll(List.of("-pl", String.join(",", modules.stream().map(Module::name).toList())));
    command.addAll(List.of("-Disola.check=true", "-DskipTests"));
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
    // Error Prone works in the compiler's own classes.
    for (String name : "api file main model parser processing tree util".split(" ")) {
      options.add("--add-exports=jdk.compiler/com.sun.tools.javac." + name + "=ALL-UNNAMED");
    }
    for (String name : "code comp".split(" ")) {
      options.add("--add-opens=jdk.compiler/com.sun.tools.javac." + name + "=ALL-UNNAMED");
    }
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

  /** Returns these modules with the strictness of each, in the order of {@code all}. */
  static Map<Module, Strictness> inOrder(List<Module> all, Map<String, Strictness> wanted) {
    Map<Module, Strictness> ordered =
        new TreeMap<>(Comparator.comparingInt(module -> all.indexOf(module)));
    for (Module module : all) {
      Strictness strictness = wanted.get(module.name());
      if (strictness != null) {
        ordered.put(module, strictness);
      }
    }
    return ordered;
  }
}
