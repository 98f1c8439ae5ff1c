package dev.isola.provider.memory;

import dev.isola.provider.memory.file.MemoryFiles;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** Pictures of a sandbox's files. Nobody here can tell what changed, so each shows everything. */
record Pictures(MemorySandbox sandbox) implements Snapshotting {
  @Override
  public Picture take(Wanted wanted) {
    sandbox.checkAlive();
    long began = System.nanoTime();
    if (wanted.hold()) {
      sandbox.processes().freeze(true);
    }
    try {
      MemoryFiles files = sandbox.memoryFiles();
      InputStream archive = files.picture(wanted.path(), wanted.includes(), wanted.excludes());
      return new Held(archive, wanted.hold(), sandbox, began, new AtomicBoolean());
    } catch (RuntimeException e) {
      if (wanted.hold()) {
        sandbox.processes().freeze(false);
      }
      throw e;
    }
  }

  /** Everything was put into the archive when it was begun; commands are held until it is read. */
  private record Held(
      InputStream archive, boolean held, MemorySandbox sandbox, long began, AtomicBoolean over)
      implements Picture {
    @Override
    public Taken taken() {
      close();
      return new Taken(0, held ? Duration.ofNanos(System.nanoTime() - began) : Duration.ZERO);
    }

    @Override
    public void close() {
      if (over.compareAndSet(false, true) && held) {
        sandbox.processes().freeze(false);
      }
    }
  }

  @Override
  public Optional<Coverage> coverage() {
    return Optional.empty();
  }

  @Override
  public TreeSummary restoreChanges(InputStream archive, TreeLimits limits) {
    throw Capability.unsupported(MemoryProvider.NAME, "changing the root of a sandbox");
  }

  @Override
  public TreeSummary restore(String path, InputStream archive, TreeLimits limits) {
    return sandbox.memoryFiles().restore(path, archive, limits);
  }
}
