package dev.isola.testing.provider;

import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/** Plants faults in executions. */
final class ExecutionFaults {
  private static final long MEBIBYTE = 1 << 20;

  private ExecutionFaults() {}

  static Execution in(Execution execution, PlantedFaults faults) {
    if (faults.has(PlantedFault.EXIT_CODE_LOST)) {
      return withAwait(execution, exit -> exit instanceof Exit.Exited ? new Exit.Exited(0) : exit);
    }
    if (faults.has(PlantedFault.OUTPUT_CUT_SILENTLY)) {
      AtomicLong seen = new AtomicLong();
      return Interception.of(
          Execution.class, execution, "read", arguments -> firstMebibyte(execution, seen));
    }
    if (faults.has(PlantedFault.SLOW_READER_LOSES)) {
      LossyBuffer buffer = new LossyBuffer(execution);
      return Interception.of(Execution.class, execution, "read", arguments -> buffer.read());
    }
    return execution;
  }

  private static Optional<Output> firstMebibyte(Execution execution, AtomicLong seen) {
    Optional<Output> piece = execution.read();
    while (piece.isPresent() && seen.addAndGet(size(piece.get())) > MEBIBYTE) {
      piece = execution.read();
    }
    return piece;
  }

  private static long size(Output piece) {
    return piece.end() - piece.offset();
  }

  private static Execution withAwait(Execution execution, UnaryOperator<Exit> change) {
    return Interception.of(
        Execution.class,
        execution,
        "await",
        arguments ->
            arguments.length == 0
                ? change.apply(execution.await())
                : execution.await((Duration) arguments[0]).map(change));
  }

  /** Kills only the first process of the command at its timeout. */
  static Execution withTimeoutOfTheLeader(Sandbox sandbox, Command command) {
    Duration timeout = command.timeout().orElseThrow();
    Execution execution =
        sandbox.start(
            new Command(
                command.mode(),
                command.program(),
                command.args(),
                command.env(),
                command.cwd(),
                command.user(),
                command.stdin(),
                Optional.empty(),
                command.tag()));
    AtomicBoolean ended = new AtomicBoolean();
    AtomicBoolean over = new AtomicBoolean();
    CompletableFuture.delayedExecutor(timeout.toMillis(), TimeUnit.MILLISECONDS)
        .execute(
            () -> {
              if (!ended.get()) {
                over.set(true);
                sandbox.run(Command.shell("kill -9 " + execution.pid()));
              }
            });
    return withAwait(
        execution,
        exit -> {
          ended.set(true);
          return over.get() ? new Exit.TimedOut(timeout) : exit;
        });
  }
}
