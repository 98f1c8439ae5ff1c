package dev.isola.engine.usage;

import dev.isola.engine.api.CpuLoad;
import dev.isola.engine.api.RecentErrors;
import dev.isola.engine.api.SandboxHealth;
import dev.isola.engine.api.SandboxStatus;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.lifecycle.SandboxNetworks;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.UsageReporting.Usage;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Reads the status of sandboxes. Reading neither counts as activity nor resumes a sandbox. A
 * sandbox is probed by one thread at a time, however many clients ask, so that one that does not
 * answer costs one thread.
 */
public final class StatusReader {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final LiveSandboxes liveSandboxes;
  private final SandboxNetworks networks;
  private final UsageSamples samples;
  private final RecentErrors errors;
  private final ContainerIds containers;
  private final Map<SandboxId, FutureTask<Reading>> probes = new ConcurrentHashMap<>();

  /** The answer of a sandbox; without usage if its provider does not report it. */
  private record Reading(
      Optional<Usage> usage, Optional<CpuLoad> cpu, Optional<String> containerId) {
    static final Reading NONE = new Reading(Optional.empty(), Optional.empty(), Optional.empty());

    Reading in(Optional<String> container) {
      return new Reading(usage, cpu, container);
    }
  }

  public StatusReader(
      LiveSandboxes liveSandboxes,
      SandboxNetworks networks,
      ProviderRegistry registry,
      UsageSamples samples,
      RecentErrors errors) {
    containers = new ContainerIds(registry, liveSandboxes);
    this.liveSandboxes = liveSandboxes;
    this.networks = networks;
    this.samples = samples;
    this.errors = errors;
  }

  /**
   * Returns the status of a sandbox, after at most a few seconds.
   *
   * @param view the entry as clients see it
   */
  public SandboxStatus read(SandboxEntry entry, SandboxView view) {
    return switch (view.state()) {
      case RUNNING -> probed(entry, view);
      case ERROR -> status(view, SandboxHealth.UNHEALTHY, view.cause(), Reading.NONE);
      case CREATING, PAUSED, STOPPED, TERMINATING, DESTROYED ->
          status(
              view,
              SandboxHealth.UNKNOWN,
              Optional.of("the sandbox is " + word(view.state())),
              Reading.NONE);
    };
  }

  private SandboxStatus probed(SandboxEntry entry, SandboxView view) {
    try {
      Reading reading = probe(entry).get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
      return reading.usage().isPresent()
          ? status(view, SandboxHealth.HEALTHY, Optional.empty(), reading)
          : status(
              view,
              SandboxHealth.UNKNOWN,
              Optional.of("provider " + view.provider() + " does not report usage"),
              reading);
    } catch (TimeoutException e) {
      return unhealthy(view, "it did not answer within " + TIMEOUT.toSeconds() + " s");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof SandboxException known) {
        return unhealthy(view, known.fault().problem());
      }
      throw new IllegalStateException("probing sandbox " + view.id() + " failed", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the client disconnected, or the server is shutting down
      return status(
          view, SandboxHealth.UNKNOWN, Optional.of("the request was cancelled"), Reading.NONE);
    }
  }

  private SandboxStatus unhealthy(SandboxView view, String reason) {
    return status(view, SandboxHealth.UNHEALTHY, Optional.of(reason), Reading.NONE);
  }

  private SandboxStatus status(
      SandboxView view, SandboxHealth health, Optional<String> reason, Reading reading) {
    return new SandboxStatus(
        view,
        health,
        reason,
        reading.usage(),
        reading.cpu(),
        reading.containerId(),
        errors.of(view.id()));
  }

  /** Returns the probe that is running, or starts one. */
  private FutureTask<Reading> probe(SandboxEntry entry) {
    return probes.computeIfAbsent(
        entry.id(),
        id -> {
          FutureTask<Reading> task =
              new FutureTask<>(() -> measure(entry).in(containers.of(entry)));
          Thread.ofVirtual()
              .name("isola-status-" + id)
              .start(
                  () -> {
                    try {
                      task.run();
                    } finally {
                      probes.remove(id, task);
                    }
                  });
          return task;
        });
  }

  private Reading measure(SandboxEntry entry) throws InterruptedException {
    Optional<UsageReporting> reporting = liveSandboxes.get(entry).as(UsageReporting.class);
    if (reporting.isEmpty()) {
      return Reading.NONE;
    }
    Reading first = measure(entry.id(), reporting.get());
    if (first.cpu().isPresent()) {
      return first;
    }
    Thread.sleep(UsageSamples.SHORTEST);
    return measure(entry.id(), reporting.get());
  }

  private Reading measure(SandboxId id, UsageReporting reporting) {
    Usage usage = networks.withTraffic(id, reporting.usage());
    return new Reading(
        Optional.of(usage), samples.add(id, usage.cpuTime(), System.nanoTime()), Optional.empty());
  }

  private static String word(SandboxState state) {
    return state.name().toLowerCase(Locale.ROOT);
  }
}
