package dev.isola.testing.engine;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The control groups of a container engine, except those that existed before. In some hierarchies
 * an engine creates them beneath its own group, so all hierarchies are searched.
 */
record EngineCgroups(String name, Set<Path> before) {
  /** The group of Podman, whose name is fixed. */
  private static final String PODMANS = "libpod_parent";

  static EngineCgroups of(TestContainerEngine.Kind kind, Path work) {
    String name =
        switch (kind) {
          case DOCKER -> "isola-own-engine-" + work.getFileName();
          case PODMAN -> PODMANS;
        };
    return new EngineCgroups(name, new HashSet<>(new EngineCgroups(name, Set.of()).found()));
  }

  List<Path> found() {
    List<Path> found = new ArrayList<>();
    descend(Path.of("/sys/fs/cgroup"), false, found);
    found.removeAll(before);
    return found;
  }

  private void descend(Path folder, boolean ours, List<Path> found) {
    try (Stream<Path> entries = Files.list(folder)) {
      for (Path entry : entries.filter(one -> Files.isDirectory(one, NOFOLLOW_LINKS)).toList()) {
        boolean its = ours || entry.endsWith(name);
        if (its) {
          found.add(entry);
        }
        descend(entry, its, found);
      }
    } catch (IOException | UncheckedIOException gone) {
      // Returns what was found so far.
    }
  }

  /** Removes the groups, innermost first. Groups that are in use remain and are reported. */
  void remove() {
    for (Path group : found().stream().sorted(Comparator.reverseOrder()).toList()) {
      try {
        Files.deleteIfExists(group);
      } catch (IOException held) {
        // leftovers() reports it.
      }
    }
  }
}
