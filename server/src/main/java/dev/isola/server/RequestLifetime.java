package dev.isola.server;

import dev.isola.server.limit.RateLimiter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.eclipse.jetty.util.Callback;

/** Lets a connection outlive its request: who took it completes the request himself. */
final class RequestLifetime {
  private final Callback callback;
  private final Set<Thread> working;
  private final List<RateLimiter.Permit> permits = new ArrayList<>();
  private boolean takenOver;
  private boolean permitsKept;

  /**
   * @param working whoever works; waited for when the server ends
   */
  RequestLifetime(Callback callback, Set<Thread> working) {
    this.callback = callback;
    this.working = working;
  }

  Callback callback() {
    return callback;
  }

  /** Keeps a place until the connection is done with. */
  void hold(RateLimiter.Permit place) {
    permits.add(place);
  }

  /** The request was worked on; unless somebody took the connection, nothing follows. */
  void handlerReturned() {
    if (!takenOver && !permitsKept) {
      releasePermits();
    }
  }

  /** Keeps the places of a connection that goes on beyond HTTP, until {@link #releasePermits}. */
  void keepPermits() {
    permitsKept = true;
  }

  /** Gives the places back. */
  void releasePermits() {
    permits.forEach(RateLimiter.Permit::close);
  }

  void takeOver() {
    takenOver = true;
  }

  boolean isTakenOver() {
    return takenOver;
  }

  /** Goes on with the connection, as part of the server's work. */
  void runDetached(String name, Runnable work) {
    Thread thread =
        Thread.ofVirtual()
            .name(name)
            .unstarted(
                () -> {
                  try {
                    work.run();
                  } finally {
                    working.remove(Thread.currentThread());
                    releasePermits();
                  }
                });
    working.add(thread);
    thread.start();
  }
}
