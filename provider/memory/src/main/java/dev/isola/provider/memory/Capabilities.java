package dev.isola.provider.memory;

import dev.isola.provider.memory.fault.PlantedFault;
import dev.isola.provider.memory.process.Job;
import dev.isola.provider.memory.process.MemoryExecution;
import dev.isola.provider.memory.process.MemoryTerminal;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;
import dev.isola.spi.file.Watch;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;

/** What a sandbox can do beyond the required. */
final class Capabilities {
  private final MemorySandbox sandbox;
  private final Map<Class<? extends Capability>, Capability> given;

  Capabilities(MemorySandbox sandbox, Function<SandboxSpec, Sandbox> create) {
    this.sandbox = sandbox;
    this.given =
        Map.of(
            Attaching.class, new Attach(sandbox),
            Terminals.class, new Open(sandbox),
            Watching.class, new See(sandbox),
            UsageReporting.class, new Measure(sandbox),
            Pausing.class, new Pause(sandbox),
            Renewing.class, new Renew(sandbox),
            Snapshotting.class, new Pictures(sandbox),
            Forking.class, new Forks(sandbox, create));
  }

  <C extends Capability> Optional<C> get(Class<C> capability) {
    return Optional.ofNullable(given.get(capability))
        .map(found -> SandboxNamed.around(capability, capability.cast(found), sandbox.id()));
  }

  private record Attach(MemorySandbox sandbox) implements Attaching {
    @Override
    public List<ExecutionInfo> executions() {
      sandbox.checkAlive();
      return sandbox.jobs().all().stream().map(Job::info).toList();
    }

    @Override
    public Execution attach(ExecutionId id, long offset) {
      sandbox.checkAlive();
      if (offset < 0) {
        throw Fault.of(
                ErrorCode.INVALID_REQUEST,
                "the offset " + offset + " is negative",
                "start at 0 or later")
            .exception();
      }
      Job job = sandbox.jobs().find(id);
      long from = sandbox.faults().has(PlantedFault.ATTACH_IGNORES_OFFSET) ? 0 : offset;
      return job.tty().isPresent()
          ? new MemoryTerminal(job, from, sandbox.faults())
          : new MemoryExecution(job, from);
    }
  }

  private record Open(MemorySandbox sandbox) implements Terminals {
    @Override
    public Terminal open(Command command, TerminalSize size) {
      return sandbox.launch(
          command, Optional.of(size), job -> new MemoryTerminal(job, 0, sandbox.faults()));
    }
  }

  private record See(MemorySandbox sandbox) implements Watching {
    @Override
    public Watch watch(String path, boolean recursive) {
      return sandbox.memoryFiles().watch(path, recursive);
    }
  }

  private record Measure(MemorySandbox sandbox) implements UsageReporting {
    @Override
    public Usage usage() {
      sandbox.checkAlive();
      long disk = sandbox.tree().usedBytes();
      return new Usage(
          sandbox.processes().processorTime(),
          disk,
          sandbox.tree().peakBytes(),
          OptionalLong.of(disk),
          OptionalLong.empty(),
          OptionalLong.empty(),
          sandbox.processes().all().size(),
          Duration.between(sandbox.createdAt(), Instant.now()));
    }
  }

  private record Pause(MemorySandbox sandbox) implements Pausing {
    @Override
    public Set<PauseKind> kinds() {
      return Set.of(PauseKind.MEMORY);
    }

    @Override
    public void pause(PauseKind kind) {
      if (kind != PauseKind.MEMORY) {
        throw Capability.unsupported(MemoryProvider.NAME, "pausing to the file system");
      }
      sandbox.freeze(true);
    }

    @Override
    public void resume() {
      sandbox.freeze(false);
    }
  }

  private record Renew(MemorySandbox sandbox) implements Renewing {
    @Override
    public void renew(Duration fromNow) {
      if (!fromNow.isPositive()) {
        throw Fault.of(
                ErrorCode.INVALID_REQUEST,
                "a deadline of " + fromNow + " is over",
                "name a time to come")
            .exception();
      }
      sandbox.renew(fromNow);
    }
  }
}
