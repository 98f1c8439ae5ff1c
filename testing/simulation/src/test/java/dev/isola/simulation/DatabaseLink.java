package dev.isola.simulation;

import static dev.isola.simulation.Timeline.MILLISECOND;
import static dev.isola.simulation.Timeline.SECOND;

import dev.isola.simulation.LedgerView.Fate;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The connection of a server to the database: latency, slow calls, lost answers and outages. */
final class DatabaseLink {
  private static final long TIMEOUT = 5 * SECOND;

  private final World world;
  private final SimulatedServer server;

  DatabaseLink(World world, SimulatedServer server) {
    this.world = world;
    this.server = server;
  }

  /**
   * Sends a call, or several that follow each other at once.
   *
   * @param failed receives {@code OUTCOME_UNKNOWN} if the answer was lost
   */
  <T> void call(
      Operation operation,
      Function<LedgerView, T> work,
      Consumer<T> then,
      Consumer<SandboxException> failed) {
    Faults faults = world.scenario.faults();
    double chance = world.random.nextDouble();
    boolean lost = chance < faults.lostAnswers();
    boolean slow = !lost && chance < faults.lostAnswers() + faults.slowCalls();
    Fate fate =
        lost ? world.random.nextBoolean() ? Fate.LOST_AFTER : Fate.LOST_BEFORE : Fate.ANSWERED;
    long latency =
        (slow ? world.random.nextLong(200, 3000) : world.random.nextLong(1, 6)) * MILLISECOND;
    long sentAt = world.timeline.now();
    LedgerView view = server.ledger();
    Answer<T> answer = new Answer<>();
    server.deliverAfter(
        lost ? TIMEOUT : latency,
        () -> {
          view.begin(operation, world.databaseIsDown() ? Fate.DOWN : fate);
          server.during(sentAt, () -> answer.compute(() -> work.apply(view)));
        },
        () -> answer.deliver(then, failed));
  }

  /** The result of a call, or why there is none. */
  private static final class Answer<T> {
    private final List<T> value = new ArrayList<>(1);
    private @Nullable SandboxException failure;

    void compute(java.util.function.Supplier<T> work) {
      try {
        value.add(work.get());
      } catch (SandboxException e) {
        failure = e;
      }
    }

    void deliver(Consumer<T> then, Consumer<SandboxException> failed) {
      SandboxException why = failure;
      if (why != null) {
        failed.accept(why);
      } else {
        then.accept(value.getFirst());
      }
    }
  }
}
