package dev.isola.server;

import dev.isola.server.limit.RateLimiter;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.eclipse.jetty.util.Callback;

/**
 * Tracks the permits of a request until the request is completed. A WebSocket or a tunnel outlives
 * its handler; it completes the request and releases the permits itself.
 */
final class RequestLifetime {
  private final Callback callback;
  private final Set<Thread> workers;
  private final List<RateLimiter.Permit> permits = new ArrayList<>();
  private boolean takenOver;
  private boolean permitsKept;
  private Optional<InputStream> content = Optional.empty();

  /**
   * Starts with no permits.
   *
   * @param workers the threads of active requests, which shutdown waits for
   */
  RequestLifetime(Callback callback, Set<Thread> workers) {
    this.callback = callback;
    this.workers = workers;
  }

  Callback callback() {
    return callback;
  }

  /** Returns the body that the handler reads, if it was read before and put back. */
  Optional<InputStream> content() {
    return content;
  }

  /** Puts a body back that was read completely. */
  void restoreContent(byte[] read) {
    content = Optional.of(new ByteArrayInputStream(read));
  }

  /** Holds a permit until the request is completed. */
  void hold(RateLimiter.Permit permit) {
    permits.add(permit);
  }

  /** Called when the handler returns. Releases the permits unless the connection was taken over. */
  void handlerReturned() {
    if (!takenOver && !permitsKept) {
      releasePermits();
    }
  }

  /**
   * Keeps the permits of a connection that was upgraded to another protocol, until {@link
   * #releasePermits}.
   */
  void keepPermits() {
    permitsKept = true;
  }

  /** Releases all permits. */
  void releasePermits() {
    permits.forEach(RateLimiter.Permit::close);
  }

  void takeOver() {
    takenOver = true;
  }

  boolean isTakenOver() {
    return takenOver;
  }

  /** Continues with the connection on a new virtual thread, which shutdown waits for. */
  void runDetached(String name, Runnable work) {
    Thread thread =
        Thread.ofVirtual()
            .name(name)
            .unstarted(
                () -> {
                  try {
                    work.run();
                  } finally {
                    workers.remove(Thread.currentThread());
                    releasePermits();
                  }
                });
    workers.add(thread);
    thread.start();
  }
}
