package dev.isola.app.documentation;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.E2bPackages;
import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.document.RecipeDocument;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.testing.program.IsolaScript;
import dev.isola.testing.program.PythonPackage;
import dev.isola.testing.program.TypeScriptPackage;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;

/** Runs or checks the blocks of one page, in order. */
final class PageRunner implements AutoCloseable {
  private static final String PORT = "7777";
  private static final List<String> LANGUAGES =
      List.of("sh", "text", "json", "yaml", "xml", "java", "python", "js", "ts", "mermaid");

  private final PageShell shell;
  private final Path work;

  /** Where the TypeScript SDK is installed, for all pages of a test. */
  private final Path typeScript;

  private final PageEnvironment environment;

  /** The blocks of TypeScript, which are compiled together: each start of the compiler is slow. */
  private final List<FencedBlock> typeScriptBlocks;

  private Optional<String> typeScriptErrors = Optional.empty();
  private Optional<String> output = Optional.empty();

  /**
   * Starts the shell of a page.
   *
   * @param blocks all blocks of the page
   * @param folder empty folder for this page
   */
  PageRunner(PageEnvironment environment, List<FencedBlock> blocks, Path folder)
      throws IOException {
    this.environment = environment;
    this.typeScriptBlocks = blocks.stream().filter(block -> block.language().equals("ts")).toList();
    this.work = Files.createDirectories(folder.resolve("work"));
    this.typeScript = folder.resolveSibling("typescript");
    Path programs = Files.createDirectories(folder.resolve("bin"));
    Path current = Files.createDirectories(folder.resolve("page"));
    IsolaScript.addTo(programs);
    if (environment.inClone()) {
      IsolaScript.addTo(current);
    }
    Map<String, String> variables = new LinkedHashMap<>(environment.variables());
    variables.put("HOME", Files.createDirectories(folder.resolve("home")).toString());
    variables.putIfAbsent("ISOLA_DATA", folder.resolve("data").toString());
    variables.put("PATH", programs + ":" + System.getenv("PATH"));
    this.shell = new PageShell(current, work, variables);
  }

  /**
   * Runs or checks a block.
   *
   * @throws AssertionError if it is wrong
   * @throws org.opentest4j.TestAbortedException if it cannot run here
   */
  void check(FencedBlock block) throws IOException, InterruptedException, ClassNotFoundException {
    Optional<String> printed = output;
    output = Optional.empty();
    if (block.marks().output()) {
      compare(block, printed);
      return;
    }
    if (block.marks().excerptOf().isPresent()) {
      excerpt(block, DocumentationTest.ROOT.resolve(block.marks().excerptOf().get()));
      return;
    }
    switch (block.language()) {
      case "sh" -> shell(block);
      case "json" -> json(block);
      case "xml" -> xml(block);
      case "yaml" -> yaml(block);
      case "java" -> java(block);
      case "python", "js" -> script(block);
      case "ts" -> typeScript(block);
      case "text", "mermaid" -> {}
      case "" -> throw block.fault("the block has no language; use one of " + LANGUAGES);
      default ->
          throw block.fault("unknown language '" + block.language() + "'; use one of " + LANGUAGES);
    }
    if (block.marks().notRun().isPresent() && !block.isProgram()) {
      throw block.fault("'not run' applies to programs only");
    }
  }

  /** Compares without white space: a source file may break lines elsewhere. */
  private static void excerpt(FencedBlock block, Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw block.fault("is an excerpt of " + file + ", which does not exist");
    }
    String source = Files.readString(file).replaceAll("\\s", "");
    if (!source.contains(block.text().replaceAll("\\s", ""))) {
      throw block.fault("is not an excerpt of " + file);
    }
  }

  private void shell(FencedBlock block) throws IOException, InterruptedException {
    List<String> findings = ShellStyle.findings(block.text());
    if (!findings.isEmpty()) {
      throw block.fault("cannot be pasted: " + String.join("; ", findings));
    }
    if (block.marks().notRun().isPresent()) {
      Path file = Files.writeString(work.resolve("not-run.sh"), block.text());
      syntax(block, "bash", "-n", file.toString());
      notRun(block);
    }
    run(block, block.line(), block.text().replace(PORT, environment.port()));
  }

  private void script(FencedBlock block) throws IOException, InterruptedException {
    boolean python = block.language().equals("python");
    Path file =
        Files.writeString(
            shell.folder().resolve("block-" + block.line() + (python ? ".py" : ".mjs")),
            block.text().replace(PORT, environment.port()));
    if (python) {
      syntax(block, "python3", "-m", "py_compile", file.toString());
    } else {
      syntax(block, "node", "--check", file.toString());
    }
    notRun(block);
    run(block, block.line(), interpreter(block, python) + " '" + file + "'\n");
  }

  private static String interpreter(FencedBlock block, boolean python)
      throws IOException, InterruptedException {
    if (python && block.text().contains("from isola")) {
      return PythonPackage.interpreter().toString();
    }
    if (!block.text().contains("e2b")) {
      return python ? "python3" : "node";
    }
    return python
        ? E2bPackages.python().toString()
        : "ln -sfn '" + E2bPackages.nodeModules() + "' node_modules && node";
  }

  /** Compiles the block against the installed package, and runs it if it is to run. */
  private void typeScript(FencedBlock block) throws IOException, InterruptedException {
    if (typeScriptErrors.isEmpty()) {
      typeScriptErrors = Optional.of(compileTypeScript());
    }
    String name = nameOf(block);
    String errors =
        typeScriptErrors
            .get()
            .lines()
            .filter(line -> line.contains(name + "."))
            .collect(Collectors.joining("\n"));
    if (!errors.isEmpty()) {
      throw block.fault("the block does not compile: " + errors);
    }
    notRun(block);
    String options = TypeScriptPackage.nodeOptions(shell.folder());
    run(block, block.line(), "node " + options + " " + name + ".mjs\n");
  }

  private static String nameOf(FencedBlock block) {
    return "block-" + block.line();
  }

  /** Compiles all blocks of the page; a block without an error is compiled even if others fail. */
  private String compileTypeScript() throws IOException, InterruptedException {
    if (!Files.exists(typeScript)) {
      TypeScriptPackage.installInto(Files.createDirectory(typeScript));
    }
    Files.createSymbolicLink(
        shell.folder().resolve("node_modules"), typeScript.resolve("node_modules"));
    List<Path> programs = new ArrayList<>();
    for (FencedBlock block : typeScriptBlocks) {
      programs.add(
          Files.writeString(
              shell.folder().resolve(nameOf(block) + ".mts"),
              block.text().replace(PORT, environment.port())));
    }
    Path errors = work.resolve("typescript-errors");
    int code =
        new ProcessBuilder(TypeScriptPackage.compile(programs))
            .redirectErrorStream(true)
            .redirectOutput(errors.toFile())
            .start()
            .waitFor();
    String printed = Files.readString(errors);
    if (code != 0 && typeScriptBlocks.stream().noneMatch(b -> printed.contains(nameOf(b) + "."))) {
      throw new AssertionError("the TypeScript compiler failed: " + printed);
    }
    return printed;
  }

  private void java(FencedBlock block) throws IOException, ClassNotFoundException {
    JavaExample example = new JavaExample(block, work);
    notRun(block);
    if (example.isProgram()) {
      run(block, block.line(), example.command());
    } else if (example.isTest()) {
      require();
      runTests(example);
    }
  }

  /** Tests in this JVM have the variables of the page as system properties. */
  private void runTests(JavaExample example) throws IOException, ClassNotFoundException {
    Map<String, String> variables = environment.variables();
    System.setProperty("isola.url", variables.getOrDefault("ISOLA_URL", ""));
    System.setProperty("isola.key", variables.getOrDefault("ISOLA_API_KEY", ""));
    try {
      example.runTests();
    } finally {
      System.clearProperty("isola.url");
      System.clearProperty("isola.key");
    }
  }

  private void require() {
    environment.obstacle().ifPresent(reason -> abort("NOT RUN: " + reason));
  }

  private void run(FencedBlock block, int line, String script) {
    require();
    String printed = shell.run(block, line, script);
    output = Optional.of(printed);
    block
        .marks()
        .prints()
        .filter(expected -> printed.lines().noneMatch(expected::equals))
        .ifPresent(
            expected -> {
              throw block.fault("no line is '%s'; printed:\n%s".formatted(expected, printed));
            });
  }

  private static void notRun(FencedBlock block) {
    block.marks().notRun().ifPresent(reason -> abort("NOT RUN: " + reason));
  }

  private static void compare(FencedBlock block, Optional<String> printed) {
    if (!block.language().equals("text")) {
      throw block.fault("output is a block of text");
    }
    String actual =
        printed.orElseThrow(() -> block.fault("no block that ran is directly before this output"));
    if (!ExpectedOutput.matches(block.text(), actual)) {
      throw block.fault(
          "the block before printed something else.\nexpected:\n%s\nprinted:\n%s"
              .formatted(block.text(), actual));
    }
  }

  private static void json(FencedBlock block) {
    try {
      Json.parse(block.text());
    } catch (MalformedJson e) {
      throw block.fault("not JSON: " + e.getMessage());
    }
  }

  private static void xml(FencedBlock block) throws IOException {
    try {
      DocumentBuilder parser = DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder();
      parser.setErrorHandler(null);
      String text = block.text();
      parser.parse(
          new InputSource(
              new StringReader(text.startsWith("<?xml") ? text : "<page>" + text + "</page>")));
    } catch (SAXException e) {
      throw block.fault("not XML: " + e.getMessage());
    } catch (ParserConfigurationException e) {
      throw new IllegalStateException(e);
    }
  }

  private void yaml(FencedBlock block) throws IOException {
    Map<String, Object> document = new LinkedHashMap<>();
    try {
      if (new Load(LoadSettings.builder().build()).loadFromString(block.text())
          instanceof Map<?, ?> tree) {
        tree.forEach((key, value) -> document.put(String.valueOf(key), value));
      }
    } catch (YamlEngineException e) {
      throw block.fault("not YAML: " + e.getMessage());
    }
    if (List.of("base", "template", "steps").stream().anyMatch(document::containsKey)) {
      try {
        RecipeDocument.check(document);
      } catch (SandboxException e) {
        throw block.fault("not a recipe: " + e.getMessage());
      }
      return;
    }
    Path file = Files.writeString(work.resolve("isola-" + block.line() + ".yaml"), block.text());
    ProviderFactory[] factories =
        ServiceLoader.load(ProviderFactory.class).stream()
            .map(ServiceLoader.Provider::get)
            .toArray(ProviderFactory[]::new);
    CommandResult result =
        new CommandLineFixture(work.resolve("data"), factories)
            .call("config", "--config", file.toString());
    if (result.code() != 0) {
      throw block.fault("isola config: " + result.err());
    }
  }

  private void syntax(FencedBlock block, String... command)
      throws IOException, InterruptedException {
    Path errors = work.resolve("syntax-errors");
    Process process;
    try {
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(errors.toFile())
              .start();
    } catch (IOException e) {
      abort("NOT RUN: " + command[0] + " is not installed");
      return;
    }
    if (process.waitFor() != 0) {
      throw block.fault("the syntax is wrong: " + Files.readString(errors));
    }
  }

  @Override
  public void close() {
    shell.close();
  }
}
