package dev.isola.testing.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs google-java-format on the sources of all modules. Files that were found to be formatted are
 * remembered by their content.
 */
final class JavaFormat {
  private final Path repository;
  private final Path jdk;
  private final SourceFiles files;
  private final String version;
  private final Path known;

  JavaFormat(Path repository, Path jdk, SourceFiles files, Path cache) throws IOException {
    this.repository = repository;
    this.jdk = jdk;
    this.files = files;
    Matcher property =
        Pattern.compile("<google-java-format.version>([^<]+)<")
            .matcher(Files.readString(repository.resolve("pom.xml")));
    if (!property.find()) {
      throw new IOException("pom.xml has no google-java-format.version");
    }
    this.version = property.group(1);
    this.known = cache.resolve("formatted-" + version + ".txt");
  }

  /**
   * Returns the files that are not formatted.
   *
   * @param reuse whether files are known from earlier runs
   * @param wanted the names of the files to look at
   */
  List<String> unformatted(boolean reuse, Predicate<String> wanted) throws IOException {
    Set<String> formatted =
        new TreeSet<>(reuse && Files.exists(known) ? Files.readAllLines(known) : List.of());
    List<String> unknown =
        sources().stream()
            .filter(wanted)
            .filter(name -> !formatted.contains(files.hashOf(name)))
            .toList();
    if (unknown.isEmpty()) {
      return List.of();
    }
    List<String> wrong = run("--dry-run", unknown).lines().filter(unknown::contains).toList();
    unknown.stream()
        .filter(name -> !wrong.contains(name))
        .map(files::hashOf)
        .forEach(formatted::add);
    Files.write(known, formatted);
    return wrong;
  }

  /** Formats all files. */
  void fix() throws IOException {
    List<String> wrong = unformatted(true, name -> true);
    if (!wrong.isEmpty()) {
      run("--replace", wrong);
    }
  }

  private List<String> sources() {
    return files.names().stream()
        .filter(name -> name.endsWith(".java"))
        .filter(name -> name.contains("/src/main/java/") || name.contains("/src/test/java/"))
        .toList();
  }

  private String run(String option, List<String> names) throws IOException {
    List<String> command = new ArrayList<>(List.of(jdk.resolve("bin/java").toString()));
    command.addAll(
        List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")); // it ends too soon for more
    for (String part : "api code file parser tree util".split(" ")) {
      command.add("--add-exports=jdk.compiler/com.sun.tools.javac." + part + "=ALL-UNNAMED");
    }
    // It writes a warning about sun.misc.Unsafe otherwise.
    command.addAll(List.of("--sun-misc-unsafe-memory-access=allow", "-jar", jar().toString()));
    command.addAll(List.of("--skip-reflowing-long-strings", option));
    Path list = Files.createTempFile("format", ".txt");
    try {
      Files.write(list, names);
      command.add("@" + list);
      return Commands.run(repository, command);
    } finally {
      Files.delete(list);
    }
  }

  private Path jar() throws IOException {
    Path folder = Files.createDirectories(repository.resolve("target/tools"));
    Path jar = folder.resolve("google-java-format-" + version + "-all-deps.jar");
    if (!Files.exists(jar)) {
      String artifact = "com.google.googlejavaformat:google-java-format:" + version;
      Commands.run(
          repository,
          List.of(
              "env",
              "JAVA_HOME=" + jdk,
              "mvn",
              "-B",
              "-ntp",
              "-q",
              "-N",
              "dependency:copy",
              "-Dartifact=" + artifact + ":jar:all-deps",
              "-DoutputDirectory=" + folder));
    }
    return jar;
  }
}
