package dev.isola.server;

import dev.isola.server.limit.Turnstile;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.eclipse.jetty.util.Callback;

/** Lets a connection outlive its request: who took it completes the request himself. */
final class Handover {
  private final Callback callback;
  private final Set<Thread> working;
  private final List<Turnstile.Place> places = new ArrayList<>();
  private boolean taken;
  private boolean kept;

  /**
   * @param working whoever works; waited for when the server ends
   */
  Handover(Callback callback, Set<Thread> working) {
    this.callback = callback;
    this.working = working;
  }

  Callback callback() {
    return callback;
  }

  /** Keeps a place until the connection is done with. */
  void holds(Turnstile.Place place) {
    places.add(place);
  }

  /** The request was worked on; unless somebody took the connection, nothing follows. */
  void returned() {
    if (!taken && !kept) {
      leave();
    }
  }

  /** Keeps the places of a connection that goes on beyond HTTP, until {@link #leave}. */
  void keep() {
    kept = true;
  }

  /** Gives the places back. */
  void leave() {
    places.forEach(Turnstile.Place::close);
  }

  void take() {
    taken = true;
  }

  boolean isTaken() {
    return taken;
  }

  /** Goes on with the connection, as part of the server's work. */
  void run(String name, Runnable work) {
    Thread thread =
        Thread.ofVirtual()
            .name(name)
            .unstarted(
                () -> {
                  try {
                    work.run();
                  } finally {
                    working.remove(Thread.currentThread());
                    leave();
                  }
                });
    working.add(thread);
    thread.start();
  }
}
