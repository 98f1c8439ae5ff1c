package dev.isola.testing.runner;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The process that checks the sources of modules with Error Prone and NullAway. It reads names of
 * modules, or names followed by {@value Suite#TESTS}, from standard input and reports as {@link
 * TestWorker} does. It is one process, because the compiler takes a while to become fast, and not
 * part of the build, because modules would wait for each other.
 */
final class StrictCompiler {
  private static final String PLUGIN =
      "-Xplugin:ErrorProne -Xep:NullAway:ERROR -XepOpt:NullAway:AnnotatedPackages=dev.isola"
          + " -XepOpt:NullAway:JSpecifyMode=true -Xep:MissingSummary:OFF -Xep:StringSplitter:OFF";

  private StrictCompiler() {}

  /** Takes the folder of the repository and the class path of Error Prone. */
  public static void main(String... arguments) throws IOException {
    Path repository = Path.of(arguments[0]);
    PrintStream reports = System.out;
    BufferedReader names =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String name = names.readLine(); name != null; name = names.readLine()) {
      long start = System.nanoTime();
      String problems = check(repository, name, arguments[1]);
      TestWorker.report(
          reports,
          problems.isEmpty() ? TestResult.Outcome.PASSED : TestResult.Outcome.FAILED,
          name,
          (System.nanoTime() - start) / 1_000_000,
          problems);
      TestWorker.end(reports);
    }
  }

  /** Returns what is wrong, or an empty text. */
  private static String check(Path repository, String name, String errorProne) throws IOException {
    boolean tests = name.endsWith(Suite.TESTS);
    Path module = repository.resolve(tests ? name.substring(0, name.indexOf(Suite.TESTS)) : name);
    Path folder = module.resolve(tests ? "src/test/java" : "src/main/java");
    List<Path> sources = List.of();
    if (Files.isDirectory(folder)) {
      try (Stream<Path> all = Files.walk(folder)) {
        sources = all.filter(file -> file.toString().endsWith(".java")).toList();
      }
    }
    if (sources.isEmpty()) {
      return "";
    }
    String classPath = Files.readString(module.resolve("target/check/classpath"));
    if (tests) {
      classPath = module.resolve("target/classes") + File.pathSeparator + classPath;
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
    StringWriter output = new StringWriter();
    try (StandardJavaFileManager files =
        compiler.getStandardFileManager(found, null, StandardCharsets.UTF_8)) {
      List<String> options =
          List.of(
              "--release",
              "25",
              "-proc:none",
              "-Xlint:none",
              "-Werror",
              "-XDcompilePolicy=simple",
              "--should-stop=ifError=FLOW",
              "--should-stop=ifNoError=FLOW", // the build writes the classes
              "-processorpath",
              errorProne,
              "-cp",
              classPath,
              PLUGIN);
      boolean passed =
          compiler
              .getTask(
                  output, files, found, options, null, files.getJavaFileObjectsFromPaths(sources))
              .call();
      if (passed) {
        return "";
      }
    }
    StringBuilder problems = new StringBuilder();
    found.getDiagnostics().forEach(one -> problems.append(one).append('\n'));
    return problems.isEmpty() ? "the compiler failed\n" + output : problems.toString();
  }
}
