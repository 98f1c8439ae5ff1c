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
 * Removes the control groups of sandboxes that ended while no process of Isola was there to do it:
 * the launcher's that stays for them was killed, or the machine's user ended. The agent cannot: it
 * does not see control groups of the host. Each process of an installation sweeps once, when it
 * boots its first sandbox.
 */
final class OrphanedCgroups {
  /** Groups of a sandbox that is being made are younger. */
  private static final Duration AGE = Duration.ofMinutes(1);

  private final ProviderContext context;
  private final ControlGroups groups;
  private final AtomicBoolean swept = new AtomicBoolean();

  OrphanedCgroups(ProviderContext context, ControlGroups groups) {
    this.context = context;
    this.groups = groups;
  }

  /** Sweeps beside the caller, the first time it is called. */
  void sweepOnce() {
    if (swept.compareAndSet(false, true)) {
      Thread.ofVirtual().name("isola-orphaned-groups").start(() -> sweep(AGE));
    }
  }

  void sweep(Duration age) {
    groups.removeEmpty(context.instance(), age, this::hasEnded);
  }

  /** All providers of an installation name groups alike, so all of their folders are looked at. */
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
      return false; // What cannot be told apart from a sandbox in use is left.
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
