package dev.isola.engine.usage;

import dev.isola.codec.json.Json;
import dev.isola.engine.api.Log;
import dev.isola.engine.event.EventLog;
import dev.isola.engine.lifecycle.Book;
import dev.isola.engine.lifecycle.Living;
import dev.isola.engine.lifecycle.SpecText;
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

/**
 * Looks now and then at what sandboxes use, and writes an event when it is nearly all they may:
 * once when a resource comes that far, and again only after it has been below. A few are asked at a
 * time, and one that does not answer holds up nobody.
 */
public final class UsageWatch {
  private static final int AT_ONCE = 8;
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Living living;
  private final Book book;
  private final EventLog events;
  private final double share;
  private final InstantSource clock;
  private final Log log;
  private final Map<SandboxId, Set<LimitKind>> warned = new ConcurrentHashMap<>();
  private volatile Map<String, Used> last = Map.of();

  /**
   * @param share of a limit from which on somebody is warned
   */
  public UsageWatch(
      Living living, Book book, EventLog events, double share, InstantSource clock, Log log) {
    this.living = living;
    this.book = book;
    this.events = events;
    this.share = share;
    this.clock = clock;
    this.log = log;
  }

  private record Seen(String provider, Used used) {}

  /** Looks at every sandbox that runs and can tell. */
  public void look() {
    List<Callable<Optional<Seen>>> looks = new ArrayList<>();
    List<Sandbox> sandboxes = living.all();
    sandboxes.forEach(one -> looks.add(() -> look(one)));
    warned.keySet().retainAll(sandboxes.stream().map(Sandbox::id).toList());
    Map<String, Used> sums = new TreeMap<>();
    try (ExecutorService lookers =
        Executors.newFixedThreadPool(
            AT_ONCE, Thread.ofVirtual().name("isola-usage-", 0).factory())) {
      for (Future<Optional<Seen>> looked :
          lookers.invokeAll(looks, PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
        if (!looked.isCancelled()) {
          looked.get().ifPresent(seen -> sums.merge(seen.provider(), seen.used(), Used::and));
        }
      }
      last = Map.copyOf(sums);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the engine closes
    } catch (ExecutionException e) {
      throw new IllegalStateException("looking at a sandbox failed badly", e.getCause());
    }
  }

  /** Returns what sandboxes used when they were last looked at, by provider. */
  public Map<String, Used> last() {
    return last;
  }

  private Optional<Seen> look(Sandbox sandbox) {
    try {
      Optional<UsageReporting> reporting = sandbox.as(UsageReporting.class);
      Optional<SandboxEntry> entry =
          book.find(sandbox.id()).filter(one -> one.state() == SandboxState.RUNNING);
      if (reporting.isEmpty() || entry.isEmpty()) {
        return Optional.empty();
      }
      Usage usage = reporting.get().usage();
      judge(entry.get(), usage);
      return Optional.of(
          new Seen(entry.get().provider(), new Used(usage.memoryBytes(), usage.processes())));
    } catch (RuntimeException e) {
      // It may have ended this moment; if not, its next user finds out.
      log.info("sandbox " + sandbox.id() + " does not tell what it uses: " + e.getMessage());
      return Optional.empty();
    }
  }

  private void judge(SandboxEntry entry, Usage usage) {
    List<Nearly> nearly =
        Nearly.of(usage, SpecText.read(entry.spec(), entry.id()).spec().limits(), share);
    Set<LimitKind> before = warned.getOrDefault(entry.id(), EnumSet.noneOf(LimitKind.class));
    for (Nearly one : nearly) {
      if (!before.contains(one.resource())) {
        events.append(NewEvent.of(entry.id(), "resourceWarning", text(one), clock.instant()));
      }
    }
    warned.put(entry.id(), Nearly.kinds(nearly));
  }

  private static String text(Nearly one) {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("resource", one.resource().name().toLowerCase(Locale.ROOT));
    data.put("used", one.used());
    data.put("limit", one.limit());
    return Json.text(data);
  }
}
