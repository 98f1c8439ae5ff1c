package dev.isola.testing.runner;

import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Names what a build or a test of a module depends on: its sources, those of the modules below it,
 * the tools. Where a name is the same, so is the result.
 */
final class ModuleKeys {
  private final SourceFiles files;
  private final Map<String, Module> modules = new LinkedHashMap<>();
  private final String buildTools;
  private final String machine;
  private final Map<String, String> mains = new HashMap<>();

  /**
   * Creates the keys.
   *
   * @param buildTools names the JDK, the C compiler and Maven
   * @param machine names all that tests find on this machine
   */
  ModuleKeys(SourceFiles files, Collection<Module> modules, String buildTools, String machine) {
    this.files = files;
    modules.forEach(module -> this.modules.put(module.name(), module));
    this.buildTools = buildTools;
    this.machine = machine;
  }

  /** Returns the keys as the files are now. */
  ModuleKeys readAgain() throws IOException {
    return new ModuleKeys(files.readAgain(), modules.values(), buildTools, machine);
  }

  /** Returns the key of the module's own program, without its tests. */
  String main(Module module) {
    String known = mains.get(module.name());
    if (known != null) {
      return known;
    }
    StringBuilder text = new StringBuilder("main ").append(buildTools).append('\n');
    text.append(files.fingerprint(name -> name.equals("pom.xml") || isMain(module, name)));
    for (String dependency : module.dependencies()) {
      text.append('\n').append(dependency).append(' ').append(main(dependency(dependency)));
    }
    String key = SourceFiles.hash(text.toString());
    mains.put(module.name(), key);
    return key;
  }

  /** Returns the key of the module's program and its compiled tests. */
  String build(Module module) {
    StringBuilder text = new StringBuilder("build ").append(main(module)).append('\n');
    text.append(files.fingerprint(below(module, "src/test")));
    for (String dependency : module.testJars()) {
      text.append('\n').append(dependency).append(' ').append(build(dependency(dependency)));
    }
    return SourceFiles.hash(text.toString());
  }

  /** Returns the key of a check of the module's sources with Error Prone. */
  String strict(Module module, String name) {
    String sources = name.equals(module.name()) ? main(module) : build(module);
    return SourceFiles.hash(
        String.join("\n", "strict", name, sources, main(dependency("testing/runner"))));
  }

  /** Returns the key of the results of the module's tests in {@code tier}. */
  String test(Module module, Options options) {
    Set<String> outside = new TreeSet<>(module.inputs());
    return SourceFiles.hash(
        String.join(
            "\n",
            "test",
            build(module),
            files.fingerprint(name -> SourceFiles.isBelow(name, List.of(module.name()))),
            files.fingerprint(name -> SourceFiles.isBelow(name, outside)),
            machine,
            options.tier().toString(),
            options.properties().toString()));
  }

  private Module dependency(String name) {
    Module found = modules.get(name);
    if (found == null) {
      throw new IllegalStateException("no module " + name);
    }
    return found;
  }

  /** Returns the names of the modules that a changed file belongs to. */
  Set<String> owners(Set<String> changed) {
    if (changed.contains("pom.xml")) {
      return modules.keySet();
    }
    return modules.values().stream()
        .filter(module -> changed.stream().anyMatch(name -> owns(module, name)))
        .map(Module::name)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static boolean owns(Module module, String name) {
    if (isMain(module, name) || below(module, "src").test(name)) {
      return true;
    }
    // What reads the whole repository is affected by each change, and changed by none.
    return SourceFiles.isBelow(name, module.inputs()) && !module.inputs().contains(".");
  }

  /** Returns these modules and all that use one of them. */
  Set<String> withDependents(Set<String> names) {
    Set<String> all = new TreeSet<>(names);
    for (int before = -1; before != all.size(); ) {
      before = all.size();
      for (Module module : modules.values()) {
        if (module.dependencies().stream().anyMatch(all::contains)) {
          all.add(module.name());
        }
      }
    }
    return all;
  }

  /** Returns these modules and all that they use. */
  Set<String> withDependencies(Set<String> names) {
    Set<String> all = new TreeSet<>(names);
    for (int before = -1; before != all.size(); ) {
      before = all.size();
      for (String name : List.copyOf(all)) {
        all.addAll(dependency(name).dependencies());
      }
    }
    return all;
  }

  private static boolean isMain(Module module, String name) {
    boolean built =
        Stream.of("pom.xml", "Makefile", "launcher", "src")
            .anyMatch(part -> below(module, part).test(name));
    return built && !below(module, "src/test").test(name) && !name.endsWith(".md");
  }

  private static Predicate<String> below(Module module, String part) {
    List<String> folder = List.of(module.name() + "/" + part);
    return name -> SourceFiles.isBelow(name, folder);
  }
}
