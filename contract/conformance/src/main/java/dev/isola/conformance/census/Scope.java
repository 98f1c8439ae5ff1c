package dev.isola.conformance.census;

import dev.isola.spi.InstanceId;
import java.nio.file.Path;
import java.util.List;

/** What counts as ours. */
sealed interface Scope {
  Scope EVERYTHING = new Everything();

  /** Tells whether a process that bears this instance's mark counts. */
  boolean bears(String instance);

  /** Tells whether a resource of this name counts: a cgroup, a mount, a network namespace. */
  boolean named(String name);

  /** Tells whether something at this path counts. */
  boolean holds(String path);

  List<Path> dataFolders();

  /** Whatever Isola made here, of whichever installation. */
  record Everything() implements Scope {
    private static final String NAME = "isola";

    @Override
    public boolean bears(String instance) {
      return true;
    }

    @Override
    public boolean named(String name) {
      return name.contains(NAME);
    }

    @Override
    public boolean holds(String path) {
      return path.contains(NAME);
    }

    @Override
    public List<Path> dataFolders() {
      return List.of();
    }
  }

  /** One installation; everything it makes bears its id or lies in its folder. */
  record Installation(InstanceId instance, Path data) implements Scope {
    @Override
    public boolean bears(String other) {
      return instance.value().equals(other);
    }

    @Override
    public boolean named(String name) {
      return name.contains(instance.value());
    }

    @Override
    public boolean holds(String path) {
      String folder = data.toString();
      return path.startsWith(folder)
          && (path.length() == folder.length() || path.charAt(folder.length()) == '/');
    }

    @Override
    public List<Path> dataFolders() {
      return List.of(data);
    }
  }
}
