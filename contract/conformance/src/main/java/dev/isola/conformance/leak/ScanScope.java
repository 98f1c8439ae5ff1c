package dev.isola.conformance.leak;

import dev.isola.spi.InstanceId;
import java.nio.file.Path;
import java.util.List;

/** What counts as ours. */
sealed interface ScanScope {
  ScanScope ALL_INSTALLATIONS = new AllInstallations();

  /** Tells whether a process that bears this instance's mark counts. */
  boolean ownsInstance(String instance);

  /** Tells whether a resource of this name counts: a cgroup, a mount, a network namespace. */
  boolean ownsName(String name);

  /** Tells whether something at this path counts. */
  boolean ownsPath(String path);

  List<Path> dataFolders();

  /** Whatever Isola made here, of whichever installation. */
  record AllInstallations() implements ScanScope {
    private static final String NAME = "isola";

    @Override
    public boolean ownsInstance(String instance) {
      return true;
    }

    @Override
    public boolean ownsName(String name) {
      return name.contains(NAME);
    }

    @Override
    public boolean ownsPath(String path) {
      return path.contains(NAME);
    }

    @Override
    public List<Path> dataFolders() {
      return List.of();
    }
  }

  /** One installation; everything it makes bears its id or lies in its folder. */
  record OneInstallation(InstanceId instance, Path data) implements ScanScope {
    @Override
    public boolean ownsInstance(String other) {
      return instance.value().equals(other);
    }

    @Override
    public boolean ownsName(String name) {
      return name.contains(instance.value());
    }

    @Override
    public boolean ownsPath(String path) {
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
