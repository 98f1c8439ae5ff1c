package dev.isola.provider.memory.process;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.Signal;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Optional;

/** A handle on a job. */
public sealed class MemoryExecution implements Execution permits MemoryTerminal {
  private final Job job;
  private final Journal.Reader reader;
  private final OutputStream stdin;

  public MemoryExecution(Job job, long offset) {
    this.job = job;
    this.reader = job.journal().attach(offset);
    this.stdin = new JobInput(job);
  }

  final Job job() {
    return job;
  }

  @Override
  public ExecutionId id() {
    return job.id();
  }

  @Override
  public long pid() {
    return job.leader().pid();
  }

  @Override
  public OutputStream stdin() {
    return stdin;
  }

  @Override
  public Optional<Output> read() {
    try {
      Optional<Output> next = reader.next();
      if (next.isEmpty() && job.exit().orElse(null) instanceof Exit.Lost(String why)) {
        throw Fault.of(
                ErrorCode.OUTCOME_UNKNOWN,
                "the end of the command was not seen: " + why,
                "create a new sandbox and run it again if that does no harm")
            .with("execution", id().value())
            .exception();
      }
      return next;
    } catch (InterruptedException e) {
      throw cancelled(e);
    }
  }

  @Override
  public Exit await() {
    return await(Duration.ofDays(36500)).orElseThrow();
  }

  @Override
  public Optional<Exit> await(Duration patience) {
    try {
      reader.drain(Math.max(0, patience.toNanos()));
      return job.exit();
    } catch (InterruptedException e) {
      throw cancelled(e);
    }
  }

  private static SandboxException cancelled(InterruptedException e) {
    Thread.currentThread().interrupt();
    return Fault.of(
            ErrorCode.CANCELLED,
            "waiting for the command was interrupted",
            "attach to it again if it was not meant")
        .exception(e);
  }

  @Override
  public Duration duration() {
    return job.duration();
  }

  @Override
  public void signal(Signal signal) {
    if (job.exit().isEmpty()) {
      job.signal(signal);
    }
  }

  @Override
  public void kill() {
    job.kill();
  }

  @Override
  public void close() {
    reader.close();
  }
}
