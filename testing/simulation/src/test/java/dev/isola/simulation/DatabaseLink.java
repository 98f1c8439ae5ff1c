package dev.isola.simulation;

import static dev.isola.simulation.Timeline.MILLISECOND;
import static dev.isola.simulation.Timeline.SECOND;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The connection of a server to the database: latency, slow calls, lost answers and outages. */
final class DatabaseLink {
  private static final long TIMEOUT = 5 * SECOND;

  private final World world;
  private final SimulatedServer server;

  DatabaseLink(World world, SimulatedServer server) {
    this.world = world;
    this.server = server;
  }

  <T> void call(
      Operation operation, Supplier<T> work, Consumer<T> then, Consumer<SandboxException> failed) {
    call(operation, 1, work, then, failed);
  }

  /**
   * Sends a call.
   *
   * @param pages how many round trips it takes
   * @param failed receives {@code OUTCOME_UNKNOWN} if the answer was lost
   */
  <T> void call(
      Operation operation,
      int pages,
      Supplier<T> work,
      Consumer<T> then,
      Consumer<SandboxException> failed) {
    world.roundTrips.count(operation, pages);
    Faults faults = world.scenario.faults();
    double chance = world.random.nextDouble();
    boolean lost = chance < faults.lostAnswers();
    boolean slow = !lost && chance < faults.lostAnswers() + faults.slowCalls();
    boolean effect = !lost || world.random.nextBoolean();
    long latency =
        pages
            * (slow
                ? world.random.nextLong(200, 3000)
                : world.random.nextLong(1, 6))
            * MILLISECOND;
    Answer<T> answer = new Answer<>();
    server.deliverAfter(
        lost ? TIMEOUT : Math.min(latency, TIMEOUT),
        () -> {
          if (world.databaseIsDown()) {
            answer.failure = failure(ErrorCode.PROVIDER_UNAVAILABLE, "the database is down");
          } else if (effect) {
            answer.compute(work);
          }
          if (lost && answer.failure == null) {
            answer.failure = failure(ErrorCode.OUTCOME_UNKNOWN, "the answer was lost");
          }
        },
        () -> answer.deliver(then, failed));
  }

  private static SandboxException failure(ErrorCode code, String problem) {
    return Fault.of(code, problem, "read before retrying").exception();
  }

  /** The result of a call, or why there is none. */
  private static final class Answer<T> {
    private final java.util.List<T> value = new java.util.ArrayList<>(1);
    private @org.jspecify.annotations.Nullable SandboxException failure;

    void compute(Supplier<T> work) {
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
