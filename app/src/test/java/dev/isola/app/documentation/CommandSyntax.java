package dev.isola.app.documentation;

import dev.isola.app.CommandLineFixture;
import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds what is wrong with a command without running it: programs, options and providers that do
 * not exist, modules and test classes that {@code ./check} does not find.
 */
final class CommandSyntax {
  private static final Pattern ASSIGNMENT = Pattern.compile("[A-Z_]+=.*");
  private static final Pattern PLACEHOLDER = Pattern.compile("[A-Z][A-Z_]*(?:[,=|].*)?");

  private static final Set<String> NO_SOURCES = Set.of("target", "node_modules", ".git", "main");

  /** The tests that are no Java classes. */
  private static final Set<String> OTHER_TESTS =
      Set.of("AgentCTests", "AgentCTestsAarch64", "AgentCFuzz", "KernelServerTests");

  private static final Pattern WRAPPED =
      Pattern.compile("(/check|/isola\"? (?:bench|conformance))\\b[^\\n]*\"\\$@\"");

  private final Path root;
  private final CommandLineFixture isola;
  private final Set<String> providers;
  private final Set<String> testClasses;
  private final String checkOptions;

  CommandSyntax(Path root, Path data) throws IOException {
    this.root = root;
    isola = new CommandLineFixture(data);
    providers =
        ServiceLoader.load(ProviderFactory.class).stream()
            .map(provider -> provider.get().name())
            .collect(Collectors.toCollection(TreeSet::new));
    testClasses = testClasses(root);
    checkOptions =
        Files.readString(
            root.resolve("testing/runner/src/main/java/dev/isola/testing/runner/Options.java"));
  }

  private static Set<String> testClasses(Path root) throws IOException {
    Set<String> names = new TreeSet<>(OTHER_TESTS);
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path path, BasicFileAttributes attributes) {
            return !path.equals(root) && NO_SOURCES.contains(path.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            String name = file.getFileName().toString();
            if (name.endsWith(".java")) {
              names.add(name.substring(0, name.length() - ".java".length()));
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return names;
  }

  /** Returns what is wrong with a line of commands, each with its place. */
  List<String> problems(DocumentedCommand command) throws IOException {
    List<String> problems = new ArrayList<>();
    for (List<String> words : command.commands()) {
      for (String problem : problems(words)) {
        problems.add(command.place() + ": " + command.text() + ": " + problem);
      }
    }
    return problems;
  }

  private List<String> problems(List<String> words) throws IOException {
    int first = 0;
    while (first < words.size() && ASSIGNMENT.matcher(words.get(first)).matches()) {
      first++;
    }
    if (first == words.size()) {
      return List.of();
    }
    String program = words.get(first);
    List<String> arguments = words.subList(first + 1, words.size());
    return switch (program) {
      case "./isola", "isola" -> ofIsola(arguments);
      case "./check" -> ofCheck(arguments);
      case "sh" ->
          arguments.size() == 2 && arguments.getFirst().equals("-c")
              ? ofShell(arguments.getLast())
              : List.of();
      default ->
          program.matches("(testing|packaging|bench)/.*")
              ? ofScript(program, arguments)
              : List.of();
    };
  }

  private List<String> ofShell(String script) throws IOException {
    List<String> problems = new ArrayList<>();
    for (List<String> words : new DocumentedCommand("", script).commands()) {
      problems.addAll(problems(words));
    }
    return problems;
  }

  private List<String> ofIsola(List<String> arguments) {
    if (arguments.isEmpty() || PLACEHOLDER.matcher(arguments.getFirst()).matches()) {
      return List.of();
    }
    Optional<String> error = isola.syntaxError(arguments);
    if (error.isPresent()) {
      return List.of(error.orElseThrow());
    }
    return arguments.getFirst().equals("conformance") ? ofConformance(arguments) : List.of();
  }

  private List<String> ofConformance(List<String> arguments) {
    List<String> problems = new ArrayList<>();
    List<String> named = new ArrayList<>();
    for (int i = 1; i < arguments.size(); i++) {
      String word = arguments.get(i);
      if (Set.of("--only", "--set", "--url", "--key", "--matrix").contains(word)) {
        i++;
      } else if (!word.startsWith("-") && !PLACEHOLDER.matcher(word).matches()) {
        named.add(word);
      }
    }
    for (String name : named) {
      if (!providers.contains(name)) {
        problems.add("no provider is named " + name);
      }
    }
    if (named.contains("kubernetes")
        && arguments.stream().noneMatch(word -> word.startsWith("image="))) {
      problems.add("kubernetes has no image of its own: it needs --set image=IMAGE");
    }
    return problems;
  }

  private List<String> ofCheck(List<String> arguments) {
    List<String> problems = new ArrayList<>();
    for (int i = 0; i < arguments.size(); i++) {
      String word = arguments.get(i);
      if (word.equals("-pl") && i + 1 < arguments.size()) {
        for (String module : arguments.get(++i).split(",")) {
          if (!module.contains("NAME") && !Files.isDirectory(root.resolve(module))) {
            problems.add("there is no module " + module);
          }
        }
      } else if (word.startsWith("-Dtest=")) {
        for (String name : word.substring("-Dtest=".length()).split(",")) {
          if (!isTest(name)) {
            problems.add("there is no test class " + name);
          }
        }
      } else if (word.startsWith("-")
          && !word.startsWith("-Disola.")
          && !checkOptions.contains("\"" + word + "\"")) {
        problems.add("./check has no option " + word);
      }
    }
    return problems;
  }

  private boolean isTest(String name) {
    Pattern pattern = Pattern.compile(name.replace("*", ".*"));
    return PLACEHOLDER.matcher(name).matches()
        || testClasses.stream().anyMatch(test -> pattern.matcher(test).matches());
  }

  private List<String> ofScript(String program, List<String> arguments) throws IOException {
    Path file = root.resolve(program);
    if (!Files.isRegularFile(file)) {
      return Files.isDirectory(file) ? List.of() : List.of("there is no " + program);
    }
    List<String> problems = new ArrayList<>();
    boolean called = !arguments.isEmpty() || program.endsWith(".sh");
    if (called && !Files.isExecutable(file)) {
      problems.add(program + " is not executable");
    }
    String body = body(file);
    for (int i = 0; i < arguments.size(); i++) {
      List<String> rest = arguments.subList(i, arguments.size());
      String word = arguments.get(i);
      if (isCommand(word)) {
        problems.addAll(problems(rest));
        return problems;
      }
      if (word.startsWith("-")) {
        Optional<List<String>> wrapped = wrapped(body, rest);
        if (wrapped.isPresent()) {
          problems.addAll(problems(wrapped.get()));
          return problems;
        }
        if (!takes(file, body, word)) {
          problems.add(program + " has no option " + word);
        }
      }
    }
    return problems;
  }

  private static boolean isCommand(String word) {
    return word.matches("\\./(isola|check)|isola|sh|(testing|packaging|bench)/.*");
  }

  /** Returns the command of the script that gets all arguments which the script does not take. */
  private static Optional<List<String>> wrapped(String body, List<String> arguments) {
    Matcher call = WRAPPED.matcher(body);
    if (!call.find()) {
      return Optional.empty();
    }
    List<String> words =
        new ArrayList<>(List.of(("." + call.group(1).replace("\"", "")).split(" ")));
    words.addAll(arguments);
    return Optional.of(words);
  }

  /** Returns whether the script, or a program in the folder of its name, has the option. */
  private static boolean takes(Path script, String body, String option) throws IOException {
    Pattern literal = Pattern.compile(Pattern.quote(option) + "(?![\\w-])");
    if (literal.matcher(body).find()) {
      return true;
    }
    Path folder = Path.of(script.toString().replaceFirst("(-here)?\\.sh$", ""));
    if (folder.equals(script) || !Files.isDirectory(folder)) {
      return false;
    }
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        if (file.toString().endsWith(".py") && literal.matcher(Files.readString(file)).find()) {
          return true;
        }
      }
    }
    return false;
  }

  /** Returns the script without the comment at its beginning. */
  private static String body(Path script) throws IOException {
    return Files.readString(script)
        .lines()
        .dropWhile(line -> line.startsWith("#"))
        .collect(Collectors.joining("\n"));
  }
}
