package dev.isola.conformance.leak;

import dev.isola.spi.InstanceId;
import java.nio.file.Path;
import java.util.List;

/** Decides which resources a scan includes. */
sealed interface ScanScope {
  ScanScope ALL_INSTALLATIONS = new AllInstallations();

  /** Returns whether a process labeled with this instance id is in scope. */
  boolean ownsInstance(String instance);

  /** Returns whether a cgroup, mount or network namespace with this name is in scope. */
  boolean ownsName(String name);

  /** Returns whether a resource at this path is in scope. */
  boolean ownsPath(String path);

  List<Path> dataFolders();

  /** Resources of any installation. */
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

  /** Resources of one installation; they carry its id or lie in its data folder. */
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
