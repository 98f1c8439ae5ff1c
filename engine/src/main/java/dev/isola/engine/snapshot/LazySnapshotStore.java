package dev.isola.engine.snapshot;

import dev.isola.snapshot.BlobStores;
import dev.isola.snapshot.SnapshotStore;
import dev.isola.snapshot.blob.BlobStore;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The snapshot store, opened on first use, because most engines never need it. */
public final class LazySnapshotStore implements AutoCloseable {
  private static final Duration OPEN_WAIT = Duration.ofSeconds(60);

  private final Path folder;
  private final String place;
  private final Optional<URI> endpoint;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable SnapshotStore store;
  private boolean closed;

  /**
   * @param folder the folder for all snapshot data
   * @param place the location of the store; empty for the folder
   * @param endpoint the endpoint of an S3-compatible service; credentials come from the environment
   */
  public LazySnapshotStore(Path folder, String place, Optional<URI> endpoint) {
    this.folder = folder;
    this.place = place;
    this.endpoint = endpoint;
  }

  public Path basesFolder() {
    return folder.resolve("lineages");
  }

  public Path scratchFolder() {
    return folder.resolve("scratch");
  }

  public SnapshotStore get() {
    lockWithin(OPEN_WAIT);
    try {
      if (closed) {
        throw Fault.of(
                ErrorCode.PROVIDER_UNAVAILABLE,
                "the server is shutting down",
                "retry after it has restarted, or use another server")
            .exception();
      }
      SnapshotStore open = store;
      if (open == null) {
        open = SnapshotStore.open(blobs(), folder.resolve("work"));
        store = open;
      }
      return open;
    } finally {
      lock.unlock();
    }
  }

  /** Waits for another thread that opens the store, which may be in a slow bucket. */
  private void lockWithin(Duration wait) {
    try {
      if (!lock.tryLock(wait.toSeconds(), TimeUnit.SECONDS)) {
        throw Fault.of(
                ErrorCode.PROVIDER_UNAVAILABLE,
                "the snapshot store was not opened within " + wait.toSeconds() + " s",
                "try again later, and check that its folder or bucket responds")
            .exception();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(
              ErrorCode.CANCELLED,
              "the request was ended while the snapshot store was being opened",
              "repeat the request")
          .exception(e);
    }
  }

  private BlobStore blobs() {
    Map<String, String> settings =
        endpoint.map(url -> Map.of("endpoint", url.toString())).orElse(Map.of());
    return BlobStores.open(
        place, folder.resolve("store"), settings, System.getenv(), Clock.systemUTC());
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
