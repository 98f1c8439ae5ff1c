package dev.isola.simulation;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Carries out work of a server, a limited number at a time for each provider, as the engine's
 * {@code ProviderWorkers} does: work that the caller does not wait for any longer continues.
 *
 * @param <T> the description of a piece of work
 */
final class Workers<T> {
  private final SimulatedServer server;
  private final Function<T, Object> key;
  private final Set<Object> pending = new HashSet<>();
  private final Map<String, Lane> lanes = new HashMap<>();

  private static final class Lane {
    private final Deque<Runnable> queue = new ArrayDeque<>();
    private int running;
  }

  Workers(SimulatedServer server, Function<T, Object> key) {
    this.server = server;
    this.key = key;
  }

  boolean isPending(T work) {
    return pending.contains(key.apply(work));
  }

  int pending() {
    return pending.size();
  }

  /**
   * Starts work and goes on when all of it is done, or after a limited time.
   *
   * @param action carries out one piece and calls its second argument when it is done
   */
  void run(
      List<T> batch,
      Function<T, String> provider,
      java.util.function.BiConsumer<T, Runnable> action,
      long limit,
      Consumer<Boolean> then) {
    int[] left = {1};
    boolean[] gone = {false};
    Runnable ended =
        () -> {
          if (--left[0] == 0 && !gone[0]) {
            gone[0] = true;
            then.accept(true);
          }
        };
    for (T work : batch) {
      if (pending.add(key.apply(work))) {
        left[0]++;
        submit(
            provider.apply(work),
            done ->
                action.accept(
                    work,
                    () -> {
                      pending.remove(key.apply(work));
                      done.run();
                      ended.run();
                    }));
      }
    }
    if (left[0] > 1) {
      server.later(
          limit,
          () -> {
            if (!gone[0]) {
              gone[0] = true;
              then.accept(false);
            }
          });
    }
    server.later(0, ended);
  }

  private void submit(String provider, Consumer<Runnable> work) {
    Lane lane = lanes.computeIfAbsent(provider, _ -> new Lane());
    Runnable start =
        () -> {
          lane.running++;
          work.accept(
              () -> {
                lane.running--;
                if (!lane.queue.isEmpty()) {
                  lane.queue.remove().run();
                }
              });
        };
    if (lane.running < Scenario.PARALLELISM) {
      start.run();
    } else {
      lane.queue.add(start);
    }
  }
}
