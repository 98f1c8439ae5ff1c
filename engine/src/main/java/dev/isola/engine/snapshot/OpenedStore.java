package dev.isola.engine.snapshot;

import dev.isola.snapshot.SnapshotStore;
import dev.isola.snapshot.blob.FolderBlobs;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The store of snapshots, opened when it is first needed: most engines never are asked for one. */
public final class OpenedStore implements AutoCloseable {
  private final Path folder;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable SnapshotStore store;
  private boolean closed;

  /**
   * @param folder for everything that has to do with snapshots
   */
  public OpenedStore(Path folder) {
    this.folder = folder;
  }

  Path lineages() {
    return folder.resolve("lineages");
  }

  SnapshotStore get() {
    lock.lock();
    try {
      if (closed) {
        throw Fault.of(
                ErrorCode.PROVIDER_UNAVAILABLE,
                "this Isola is shutting down",
                "try again in a moment, or elsewhere")
            .exception();
      }
      SnapshotStore open = store;
      if (open == null) {
        open = SnapshotStore.open(new FolderBlobs(folder.resolve("store")), folder.resolve("work"));
        store = open;
      }
      return open;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      if (store != null) {
        store.close();
      }
    } finally {
      lock.unlock();
    }
  }
}
