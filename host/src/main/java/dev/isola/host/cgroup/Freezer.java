package dev.isola.host.cgroup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Freezes and thaws all processes of a group, in either version. */
sealed interface Freezer {
  /** Requests the freeze, which completes asynchronously. Version 1 may need repeated requests. */
  void freeze() throws IOException;

  void thaw() throws IOException;

  /** Reports whether all processes are frozen. */
  boolean isFrozen();

  static Optional<Freezer> of(Path group) {
    if (Files.exists(group.resolve("cgroup.freeze"))) {
      return Optional.of(new FreezerV2(group));
    }
    return Files.exists(group.resolve("freezer.state"))
        ? Optional.of(new FreezerV1(group))
        : Optional.empty();
  }

  /** Version 2. A frozen process can be killed. */
  record FreezerV2(Path group) implements Freezer {
    @Override
    public void freeze() throws IOException {
      KernelFile.write(group.resolve("cgroup.freeze"), "1");
    }

    @Override
    public void thaw() throws IOException {
      KernelFile.write(group.resolve("cgroup.freeze"), "0");
    }

    @Override
    public boolean isFrozen() {
      return KernelFile.number(group.resolve("cgroup.events"), "frozen").orElse(0) == 1;
    }
  }

  /** Version 1. A killed process ends only when it is thawed. */
  record FreezerV1(Path group) implements Freezer {
    private Path state() {
      return group.resolve("freezer.state");
    }

    @Override
    public void freeze() throws IOException {
      KernelFile.write(state(), "FROZEN");
    }

    @Override
    public void thaw() throws IOException {
      KernelFile.write(state(), "THAWED");
    }

    @Override
    public boolean isFrozen() {
      return KernelFile.read(state()).equals("FROZEN");
    }
  }
}
