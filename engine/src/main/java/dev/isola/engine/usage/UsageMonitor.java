package dev.isola.engine.usage;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.event.EventLog;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.lifecycle.SandboxRecorder;
import dev.isola.engine.spec.SpecCodec;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.UsageReporting.Usage;
import dev.isola.store.NewEvent;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Samples the usage of sandboxes periodically and appends an event when a resource comes close to
 * its limit; it warns again only after the usage was below the threshold. Few sandboxes are sampled
 * in parallel, and one that does not respond does not delay the others.
 */
public final class UsageMonitor {
  private static final int AT_ONCE = 8;
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final LiveSandboxes liveSandboxes;
  private final SandboxRecorder recorder;
  private final EventLog events;
  private final UsageSamples samples;
  private final double share;
  private final InstantSource clock;
  private final Log log;
  private final Map<SandboxId, Set<LimitKind>> warned = new ConcurrentHashMap<>();
  private volatile Map<String, UsageTotals> last = Map.of();

  /**
   * @param share the share of a limit at which to warn
   */
  public UsageMonitor(
      LiveSandboxes liveSandboxes,
      SandboxRecorder recorder,
      EventLog events,
      UsageSamples samples,
      double share,
      InstantSource clock,
      Log log) {
    this.liveSandboxes = liveSandboxes;
    this.recorder = recorder;
    this.events = events;
    this.samples = samples;
    this.share = share;
    this.clock = clock;
    this.log = log;
  }

  private record Sample(String provider, UsageTotals used) {}

  /** Samples every running sandbox that reports its usage. */
  public void sample() {
    List<Callable<Optional<Sample>>> tasks = new ArrayList<>();
    List<Sandbox> sandboxes = liveSandboxes.all();
    sandboxes.forEach(one -> tasks.add(() -> sample(one)));
    Set<SandboxId> ids = sandboxes.stream().map(Sandbox::id).collect(Collectors.toSet());
    warned.keySet().retainAll(ids);
    samples.retain(ids);
    Map<String, UsageTotals> sums = new TreeMap<>();
    try (ExecutorService executor =
        Executors.newFixedThreadPool(
            AT_ONCE, Thread.ofVirtual().name("isola-usage-", 0).factory())) {
      for (Future<Optional<Sample>> future :
          executor.invokeAll(tasks, TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        if (!future.isCancelled()) {
          future
              .get()
              .ifPresent(sample -> sums.merge(sample.provider(), sample.used(), UsageTotals::plus));
        }
      }
      last = Map.copyOf(sums);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the engine is closing
    } catch (ExecutionException e) {
      throw new IllegalStateException("sampling the usage of a sandbox failed", e.getCause());
    }
  }

  /** Returns the usage in the latest sample, by provider. */
  public Map<String, UsageTotals> latest() {
    return last;
  }

  private Optional<Sample> sample(Sandbox sandbox) {
    try {
      Optional<UsageReporting> reporting = sandbox.as(UsageReporting.class);
      Optional<SandboxEntry> entry =
          recorder.find(sandbox.id()).filter(one -> one.state() == SandboxState.RUNNING);
      if (reporting.isEmpty() || entry.isEmpty()) {
        return Optional.empty();
      }
      Usage usage = reporting.get().usage();
      samples.add(sandbox.id(), usage.cpuTime(), System.nanoTime());
      warnNearLimits(entry.get(), usage);
      return Optional.of(
          new Sample(
              entry.get().provider(), new UsageTotals(usage.memoryBytes(), usage.processes())));
    } catch (RuntimeException e) {
      // The sandbox may have just ended; if not, its next use reports the problem.
      log.info("sandbox " + sandbox.id() + " does not report its usage: " + e.getMessage());
      return Optional.empty();
    }
  }

  private void warnNearLimits(SandboxEntry entry, Usage usage) {
    List<NearLimit> nearLimits =
        NearLimit.of(usage, SpecCodec.decode(entry.spec(), entry.id()).spec().limits(), share);
    Set<LimitKind> before = warned.getOrDefault(entry.id(), EnumSet.noneOf(LimitKind.class));
    for (NearLimit one : nearLimits) {
      if (!before.contains(one.resource())) {
        events.append(NewEvent.of(entry.id(), "resourceWarning", text(one), clock.instant()));
      }
    }
    warned.put(entry.id(), NearLimit.kinds(nearLimits));
  }

  private static String text(NearLimit one) {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("resource", one.resource().name().toLowerCase(Locale.ROOT));
    data.put("used", one.used());
    data.put("limit", one.limit());
    return Json.text(data);
  }
}
