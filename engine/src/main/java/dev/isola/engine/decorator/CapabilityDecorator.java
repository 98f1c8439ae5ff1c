package dev.isola.engine.decorator;

import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.capability.Watching;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;
import java.util.Set;

/** Decorates the capabilities of one sandbox. */
record CapabilityDecorator(ProviderGuard guard, TimeLimits limits, SandboxObserver observer) {

  /**
   * Returns a capability as the engine uses it.
   *
   * @param type the capability, because one object may implement several
   */
  <C extends Capability> C decorate(Class<C> type, C found) {
    return type.cast(decorated(type, found));
  }

  private Capability decorated(Class<? extends Capability> type, Capability found) {
    if (type == Attaching.class) {
      return new AttachingDecorator((Attaching) found, guard, observer);
    } else if (type == Terminals.class) {
      return terminals((Terminals) found);
    } else if (type == Watching.class) {
      return watching((Watching) found);
    } else if (type == PortDialing.class) {
      return dialing((PortDialing) found);
    } else if (type == UsageReporting.class) {
      return usage((UsageReporting) found);
    } else if (type == Pausing.class) {
      return new PausingDecorator((Pausing) found, guard, limits);
    } else if (type == Renewing.class) {
      return renewing((Renewing) found);
    } else if (type == Snapshotting.class) {
      return new SnapshottingDecorator((Snapshotting) found, guard);
    } else if (type == Forking.class) {
      return forking((Forking) found);
    } else if (type == MemoryForking.class) {
      return memoryForking((MemoryForking) found);
    } else if (type == Volumes.class) {
      return new VolumesDecorator((Volumes) found, guard, limits);
    }
    throw new IllegalArgumentException("no decorator for the capability " + type.getName());
  }

  private Terminals terminals(Terminals found) {
    return (command, size) -> open(found, command, size);
  }

  private Terminal open(Terminals found, Command command, TerminalSize size) {
    try {
      Terminal terminal =
          new TerminalDecorator(
              guard.direct("open", () -> found.open(command, size)), guard, observer);
      observer.started(terminal);
      return terminal;
    } catch (SandboxException e) {
      observer.commandFailed(e);
      throw e;
    }
  }

  private Watching watching(Watching found) {
    return (path, recursive) ->
        new WatchDecorator(guard.direct("watch", () -> found.watch(path, recursive)), guard);
  }

  private PortDialing dialing(PortDialing found) {
    return port ->
        new ConnectionDecorator(
            guard.direct("dial", () -> found.dial(port)), guard, observer.begin());
  }

  private UsageReporting usage(UsageReporting found) {
    return () -> guard.call("usage", limits.measure(), ErrorCode.DEADLINE_EXCEEDED, found::usage);
  }

  private Renewing renewing(Renewing found) {
    return fromNow ->
        guard.run(
            "renew", limits.change(), ErrorCode.DEADLINE_EXCEEDED, () -> found.renew(fromNow));
  }

  private Forking forking(Forking found) {
    return () ->
        ForkPointDecorator.of(
            guard.call(
                "createForkPoint",
                limits.change(),
                ErrorCode.DEADLINE_EXCEEDED,
                found::createForkPoint,
                Forking.ForkPoint::close),
            guard,
            limits);
  }

  private MemoryForking memoryForking(MemoryForking found) {
    return () ->
        new MemoryForkPointDecorator(
            guard.call(
                "createForkPoint",
                limits.change(),
                ErrorCode.DEADLINE_EXCEEDED,
                found::createForkPoint,
                Forking.ForkPoint::close),
            guard,
            limits);
  }

  /** Pauses and resumes with a timeout. */
  private record PausingDecorator(Pausing inner, ProviderGuard guard, TimeLimits limits)
      implements Pausing {
    @Override
    public Set<PauseKind> kinds() {
      return guard.direct("kinds", inner::kinds);
    }

    @Override
    public void pause(PauseKind kind) {
      guard.run("pause", limits.change(), ErrorCode.DEADLINE_EXCEEDED, () -> inner.pause(kind));
    }

    @Override
    public void resume() {
      guard.run("resume", limits.change(), ErrorCode.DEADLINE_EXCEEDED, inner::resume);
    }
  }
}
