package dev.isola.app;

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

/**
 * The programs of this machine that providers use: which there are, of which version, and what
 * would be had with the others.
 *
 * @param folders where to look, in this order
 * @param installed the distribution's version of each package, as far as it tells
 */
record Tools(List<Path> folders, Packages packages, Map<String, String> installed) {
  private static final int SETUID = 04000;

  /** What the super-user has on the path and others have not, but may run. */
  private static final List<String> MORE = List.of("/usr/local/sbin", "/usr/sbin", "/sbin");

  Tools {
    folders = List.copyOf(folders);
    installed = Map.copyOf(installed);
  }

  static Tools of(Map<String, String> environment) {
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
        Packages.installed(Machine.read(Path.of("/var/lib/dpkg/status"))));
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
      return Fact.bad(tool.command(), "not installed: " + tool.gives(), tool.install(packages));
    }
    String said = "";
    if (!tool.ask().isEmpty()) {
      said = Probe.run(program.get().toString(), tool.ask()).map(Probe::output).orElse("");
    }
    return judge(tool, program.get(), said);
  }

  private Optional<Path> find(String command) {
    return folders.stream()
        .map(folder -> folder.resolve(command))
        .filter(path -> Files.isRegularFile(path) && Files.isExecutable(path))
        .findFirst();
  }

  /** Weighs what a program says of itself. */
  Fact judge(Tool tool, Path program, String said) {
    Optional<String> packaged = packaged(tool, program);
    String shown =
        Version.find(said).map(Version::text).or(() -> packaged).orElse("version unknown");
    String value =
        shown
            + packaged
                .filter(version -> !version.equals(shown))
                .map(v -> " (package " + v + ")")
                .orElse("")
            + ", "
            + program;
    int from = said.indexOf(tool.mark());
    Optional<Version> counts = from < 0 ? Optional.empty() : Version.find(said.substring(from));
    if (counts.isEmpty()) {
      return Fact.good(tool.command(), value);
    }
    boolean setuid = setuid(program);
    List<Flaw> flaws = tool.flaws().stream().filter(flaw -> flaw.in(counts.get(), setuid)).toList();
    if (flaws.isEmpty()) {
      return Fact.good(tool.command(), value);
    }
    String names = String.join(", ", flaws.stream().map(Flaw::names).toList());
    String newer = flaws.getLast().remedy() + " or newer";
    // Distributions close holes without a new number.
    return Packages.brought(program)
        ? Fact.warning(
            tool.command(),
            value,
            "check that your distribution's package has the fixes for "
                + names
                + " (upstream: "
                + newer
                + ")")
        : Fact.bad(tool.command(), value + " has " + names, "install " + newer);
  }

  private Optional<String> packaged(Tool tool, Path program) {
    String name = tool.packages().getOrDefault(packages, tool.command());
    return Packages.brought(program) ? Optional.ofNullable(installed.get(name)) : Optional.empty();
  }

  private static boolean setuid(Path program) {
    try {
      return ((int) Files.getAttribute(program, "unix:mode") & SETUID) != 0;
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }
}
