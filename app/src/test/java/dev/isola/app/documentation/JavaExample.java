package dev.isola.app.documentation;

import static java.util.stream.Collectors.joining;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * A block of Java: a whole program with {@code void main()}, classes, or statements. Without
 * imports of its own it has those of the JDK, the SDK and JUnit that readers expect.
 */
final class JavaExample {
  private static final Pattern MAIN = Pattern.compile("(?m)^(?:static )?void main\\(");
  private static final Pattern TYPE =
      Pattern.compile(
          "(?m)^(?:(?:public|final|abstract|sealed) )*(?:class|record|interface|enum) (\\w+)");
  private static final Pattern IMPORT = Pattern.compile("(?m)^import .*;$");

  private static final String OF_THE_JDK =
      """
      import java.io.*;
      import java.nio.file.Path;
      import java.time.*;
      import java.util.*;
      import java.util.function.*;
      """;
  private static final String OF_THE_SDK =
      """
      import dev.isola.client.*;
      import dev.isola.client.error.*;
      import dev.isola.client.junit.*;
      import org.junit.jupiter.api.*;
      import static org.junit.jupiter.api.Assertions.*;
      """;

  /** Variables that statements of the pages use without declaring them. */
  private static final String DECLARED =
      "static Isola isola; static Sandbox sandbox; static String key;";

  private final FencedBlock block;
  private final Path classes;

  /**
   * Compiles the block.
   *
   * @param folder for source and class files
   * @throws AssertionError with every error of the compiler
   */
  JavaExample(FencedBlock block, Path folder) throws IOException {
    this.block = block;
    this.classes = Files.createDirectories(folder.resolve("java-" + block.line()));
    compile(Files.writeString(classes.resolve(name() + ".java"), source()));
  }

  /** Whether the block is a program of its own. */
  boolean isProgram() {
    return MAIN.matcher(block.text()).find();
  }

  /** Whether the block is a class with JUnit tests. */
  boolean isTest() {
    return TYPE.matcher(block.text()).find() && block.text().contains("@Test");
  }

  /** The command that runs a program. */
  String command() {
    return "'%s' --enable-native-access=ALL-UNNAMED -XX:TieredStopAtLevel=1 -cp '%s:%s' %s\n"
        .formatted(
            Path.of(System.getProperty("java.home"), "bin", "java"),
            classes,
            System.getProperty("java.class.path"),
            name());
  }

  /** Runs the tests of a class. */
  void runTests() throws IOException, ClassNotFoundException {
    SummaryGeneratingListener summary = new SummaryGeneratingListener();
    URL[] path = {classes.toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(path, JavaExample.class.getClassLoader())) {
      LauncherFactory.create()
          .execute(
              LauncherDiscoveryRequestBuilder.request()
                  .selectors(selectClass(loader.loadClass(name())))
                  .build(),
              summary);
    }
    TestExecutionSummary result = summary.getSummary();
    if (result.getTestsSucceededCount() == 0 || result.getTotalFailureCount() > 0) {
      StringWriter text = new StringWriter();
      result.getFailures().forEach(failure -> text.append(failure.getException() + "\n"));
      throw block.fault("the tests of the block did not all succeed: " + text);
    }
  }

  private String name() {
    Matcher type = TYPE.matcher(block.text());
    return !isProgram() && type.find() ? type.group(1) : "Example";
  }

  private String source() {
    String context = block.marks().java().orElse("");
    boolean ownImports = IMPORT.matcher(context + "\n" + block.text()).find();
    String imports = OF_THE_JDK + (ownImports ? "" : OF_THE_SDK);
    if (isProgram()) {
      return (ownImports ? "" : imports) + block.text();
    }
    List<String> lines = (context + "\n" + block.text()).lines().toList();
    String code =
        lines.stream().filter(line -> !IMPORT.matcher(line).matches()).collect(joining("\n"));
    imports +=
        lines.stream()
            .filter(line -> IMPORT.matcher(line).matches())
            .collect(joining("\n", "", "\n"));
    if (TYPE.matcher(block.text()).find()) {
      return imports + code;
    }
    String statements =
        block.text().lines().filter(line -> !IMPORT.matcher(line).matches()).collect(joining("\n"));
    String members =
        context.lines().filter(line -> !IMPORT.matcher(line).matches()).collect(joining("\n"));
    return imports
        + "class Example {\n"
        + (ownImports ? "" : DECLARED)
        + members
        + "\nstatic void example() throws Exception {\n"
        + statements
        + "\n}\n}\n";
  }

  private void compile(Path file) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      List<String> options =
          List.of(
              "-proc:none", "-d", classes.toString(), "-cp", System.getProperty("java.class.path"));
      boolean compiled =
          compiler
              .getTask(
                  new StringWriter(),
                  files,
                  diagnostics,
                  options,
                  null,
                  files.getJavaFileObjects(file))
              .call();
      if (!compiled) {
        List<String> errors = new ArrayList<>();
        for (Diagnostic<?> diagnostic : diagnostics.getDiagnostics()) {
          if (diagnostic.getKind() == Diagnostic.Kind.ERROR) {
            errors.add(diagnostic.getMessage(null));
          }
        }
        throw block.fault(
            "the Java does not compile:\n"
                + String.join("\n", errors)
                + "\n"
                + Files.readString(file));
      }
    }
  }
}
