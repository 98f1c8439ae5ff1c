package dev.isola.host.launch;

import dev.isola.host.cgroup.ControlGroups;
import dev.isola.link.local.SandboxFolder;
import dev.isola.link.local.SandboxRecord;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.ProviderContext;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Removes the control groups of sandboxes that ended when no process of Isola was left to do it,
 * because the launcher's detached process was killed. The agent cannot do it: it does not see the
 * host's control groups. Each process of an installation sweeps once, when it boots its first
 * sandbox.
 */
public final class OrphanedCgroups {
  /** Groups of a sandbox that is being created are younger. */
  private static final Duration AGE = Duration.ofMinutes(1);

  private final ProviderContext context;
  private final ControlGroups groups;
  private final AtomicBoolean swept = new AtomicBoolean();

  public OrphanedCgroups(ProviderContext context, ControlGroups groups) {
    this.context = context;
    this.groups = groups;
  }

  /** Sweeps in the background on the first call. */
  public void sweepOnce() {
    if (swept.compareAndSet(false, true)) {
      Thread.ofVirtual().name("isola-orphaned-groups").start(() -> sweep(AGE));
    }
  }

  void sweep(Duration age) {
    groups.removeEmpty(context.instance(), age, this::hasEnded);
  }

  /** Checks the folders of all providers, because they share the naming of groups. */
  private boolean hasEnded(SandboxId id) {
    try (DirectoryStream<Path> providers = Files.newDirectoryStream(context.sharedFolder())) {
      for (Path provider : providers) {
        if (!hasEnded(new SandboxFolder(provider.resolve("sandboxes").resolve(id.value())))) {
          return false;
        }
      }
      return hasEnded(
          new SandboxFolder(context.dataFolder().resolve("sandboxes").resolve(id.value())));
    } catch (IOException unknown) {
      return false; // unknown: treat it as in use
    }
  }

  private static boolean hasEnded(SandboxFolder folder) throws IOException {
    if (!folder.exists()) {
      return true;
    }
    Optional<SandboxRecord> record = SandboxRecord.read(folder.record());
    return record.isPresent()
        && record.get().agent().isPresent()
        && !record.get().stopped()
        && !record.get().isAlive();
  }
}
