package dev.isola.testing.provider;

import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;
import dev.isola.spi.file.FileChange;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.Watch;
import dev.isola.spi.spec.SandboxSpec;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** Plants faults in capabilities. */
final class CapabilityFaults {
  private CapabilityFaults() {}

  static <C extends Capability> C in(Class<C> capability, C given, PlantedFaults faults) {
    Capability faulty =
        switch (given) {
          case Attaching attaching when faults.has(PlantedFault.ATTACH_IGNORES_OFFSET) ->
              Interception.of(
                  Attaching.class,
                  attaching,
                  "attach",
                  arguments -> attaching.attach((ExecutionId) arguments[0], 0));
          case Terminals terminals when faults.has(PlantedFault.RESIZE_IGNORED) ->
              (Terminals) (command, size) -> fixed(terminals, command, size);
          case Watching watching when faults.has(PlantedFault.REMOVALS_UNSEEN) ->
              (Watching) (path, recursive) -> blind(watching.watch(path, recursive));
          case Snapshotting snapshotting when faults.has(PlantedFault.RESTORES_ZEROS) ->
              Interception.of(
                  Snapshotting.class,
                  snapshotting,
                  "restore",
                  arguments ->
                      snapshotting.restore(
                          (String) arguments[0],
                          new ZeroedTarStream((InputStream) arguments[1]),
                          (TreeLimits) arguments[2]));
          case Forking forking when faults.has(PlantedFault.FORKS_SEE_LATER_WRITES) ->
              (Forking) () -> new LateForkPoint(forking);
          case Pausing pausing when faults.has(PlantedFault.PAUSE_FORGOTTEN) ->
              new ForgottenPausing(pausing);
          default -> given;
        };
    return capability.cast(faulty);
  }

  private static Terminal fixed(Terminals terminals, Command command, TerminalSize size) {
    Terminal terminal = terminals.open(command, size);
    return Interception.of(Terminal.class, terminal, "resize", arguments -> null);
  }

  private static Watch blind(Watch watch) {
    return Interception.of(
        Watch.class, watch, "next", arguments -> nextButRemovals(watch, (Duration) arguments[0]));
  }

  private static Optional<FileChange> nextButRemovals(Watch watch, Duration timeout) {
    Optional<FileChange> change = watch.next(timeout);
    while (change.filter(seen -> seen.kind() == FileChange.Kind.REMOVED).isPresent()) {
      change = watch.next(timeout);
    }
    return change;
  }

  /** Captures the files of the source when a fork is created, instead of when the fork point is. */
  private record LateForkPoint(Forking source) implements Forking.ForkPoint {
    @Override
    public Duration frozenFor() {
      return Duration.ZERO;
    }

    @Override
    public Sandbox create(SandboxSpec spec) {
      try (Forking.ForkPoint now = source.createForkPoint()) {
        return now.create(spec);
      }
    }

    @Override
    public void close() {}
  }

  /** Says that it paused the sandbox, which goes on. */
  private record ForgottenPausing(Pausing pausing) implements Pausing {
    @Override
    public Set<PauseKind> kinds() {
      return pausing.kinds();
    }

    @Override
    public void pause(PauseKind kind) {}

    @Override
    public void resume() {
      pausing.resume();
    }
  }
}
