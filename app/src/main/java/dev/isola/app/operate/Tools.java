package dev.isola.app.operate;

import dev.isola.host.program.Flaw;
import dev.isola.host.program.Origin;
import dev.isola.host.program.Version;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The programs of this machine that Isola uses: which there are, of which version, and what would
 * be had with the others.
 *
 * @param folders where to look, in this order
 * @param declared the programs of each provider that this Isola has, by the provider's name
 */
public record Tools(
    List<Path> folders,
    Packages packages,
    Installed installed,
    Map<String, List<String>> declared) {
  private static final int SETUID = 04000;

  /** What the super-user has on the path and others have not, but may run. */
  private static final List<String> MORE = List.of("/usr/local/sbin", "/usr/sbin", "/sbin");

  public Tools {
    folders = List.copyOf(folders);
    declared = Map.copyOf(declared);
  }

  public static Tools of(
      Map<String, String> environment, Map<String, List<String>> declared) {
    List<Path> folders = new ArrayList<>();
    String path = environment.getOrDefault("PATH", "/usr/local/bin:/usr/bin:/bin");
    for (String folder : path.split(File.pathSeparator)) {
      if (folder.startsWith("/")) {
        folders.add(Path.of(folder));
      }
    }
    MORE.forEach(folder -> folders.add(Path.of(folder)));
    return new Tools(
        folders,
        Packages.of(Machine.read(Path.of("/etc/os-release"))),
        Installed.here(),
        declared);
  }

  /** Looks at all that Isola and its providers use. */
  public List<Fact> facts() {
    return facts(Tool.all(declared));
  }

  /** Asks all of them at once: each takes as long as it likes, up to some seconds. */
  List<Fact> facts(List<Tool> tools) {
    List<Callable<Fact>> questions = new ArrayList<>();
    for (Tool tool : tools) {
      questions.add(() -> fact(tool));
    }
    List<Fact> facts = new ArrayList<>();
    try (ExecutorService asking = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<Fact> answer : asking.invokeAll(questions)) {
        facts.add(answer.get());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
    return facts;
  }

  private Fact fact(Tool tool) {
    Optional<Path> program = find(tool.command());
    if (program.isEmpty()) {
      return Fact.bad(
          tool.command(), "not found: " + tool.gives() + provider(tool), tool.install(packages));
    }
    String said = "";
    if (!tool.ask().isEmpty()) {
      said = Probe.run(program.get().toString(), tool.ask()).map(Probe::output).orElse("");
    }
    return judge(tool, program.get(), said);
  }

  /** Who installs something for Isola wants to know what it will do with it. */
  private String provider(Tool tool) {
    List<String> users =
        declared.entrySet().stream()
            .filter(provider -> provider.getValue().contains(tool.command()))
            .map(Map.Entry::getKey)
            .sorted()
            .toList();
    if (users.isEmpty()) {
      return tool.backend() ? " (no provider of this Isola uses it)" : "";
    }
    return (users.size() == 1 ? " (provider " : " (providers ") + String.join(", ", users) + ")";
  }

  private Optional<Path> find(String command) {
    return folders.stream()
        .map(folder -> folder.resolve(command))
        .filter(path -> Files.isRegularFile(path) && Files.isExecutable(path))
        .findFirst();
  }

  /** Weighs what a program says of itself. */
  Fact judge(Tool tool, Path program, String said) {
    String value = value(tool, program, said);
    Optional<Version> counts = counts(tool, said);
    if (counts.isEmpty() && !tool.flaws().isEmpty()) {
      String safe = tool.flaws().getLast().remedy();
      return Fact.warning(
          tool.command(),
          value,
          "it did not say its version: check that it is " + safe + " or newer");
    }
    boolean setuid = setuid(program);
    List<Flaw> flaws =
        tool.flaws().stream().filter(flaw -> flaw.in(counts.orElseThrow(), setuid)).toList();
    if (flaws.isEmpty()) {
      return Fact.good(tool.command(), value);
    }
    String newer = flaws.getLast().remedy() + " or newer";
    if (!Origin.distributed(program)) {
      return Fact.bad(
          tool.command(), value + " has " + names(flaws, name -> true), "install " + newer);
    }
    // Distributions close holes without a new number.
    String packaged = tool.packages().getOrDefault(packages, tool.command());
    String open = names(flaws, name -> !installed.mended(packaged, name));
    return open.isEmpty()
        ? Fact.good(tool.command(), value)
        : Fact.warning(
            tool.command(),
            value,
            "check that your distribution has closed " + open + " in it (upstream: " + newer + ")");
  }

  private String value(Tool tool, Path program, String said) {
    Optional<String> packaged =
        Origin.distributed(program)
            ? installed.version(tool.packages().getOrDefault(packages, tool.command()))
            : Optional.empty();
    String shown =
        Version.find(said).map(Version::text).or(() -> packaged).orElse("version unknown");
    String more =
        packaged
            .filter(version -> !version.equals(shown))
            .map(version -> " (package " + version + ")")
            .orElse("");
    return shown + more + ", " + program;
  }

  private static Optional<Version> counts(Tool tool, String said) {
    int from = said.indexOf(tool.mark());
    return from < 0 ? Optional.empty() : Version.find(said.substring(from));
  }

  private static String names(List<Flaw> flaws, Predicate<String> wanted) {
    return flaws.stream()
        .flatMap(flaw -> flaw.names().stream())
        .filter(wanted)
        .collect(Collectors.joining(", "));
  }

  private static boolean setuid(Path program) {
    try {
      return ((int) Files.getAttribute(program, "unix:mode") & SETUID) != 0;
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }
}
