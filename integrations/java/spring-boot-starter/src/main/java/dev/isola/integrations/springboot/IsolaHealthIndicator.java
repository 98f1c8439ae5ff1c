package dev.isola.integrations.springboot;

import dev.isola.client.Isola;
import dev.isola.client.error.IsolaException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Health of the server: up if it responds and one of its providers can create sandboxes. The
 * details have the status of each provider.
 */
public final class IsolaHealthIndicator extends AbstractHealthIndicator {
  /** A health check must end before the probe of an orchestrator gives up. */
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final Isola isola;
  private final Duration timeout;

  public IsolaHealthIndicator(Isola isola) {
    this(isola, TIMEOUT);
  }

  IsolaHealthIndicator(Isola isola, Duration timeout) {
    super("the health check of the Isola server failed");
    this.isola = isola;
    this.timeout = timeout;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) throws InterruptedException {
    FutureTask<List<Map<String, Object>>> request = new FutureTask<>(isola::providers);
    Thread.ofVirtual().name("isola-health").start(request);
    try {
      report(builder, request.get(timeout.toMillis(), TimeUnit.MILLISECONDS));
    } catch (TimeoutException e) {
      builder.down().withDetail("error", "the server did not respond within " + timeout);
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof IsolaException problem)) {
        throw new IllegalStateException(e.getCause());
      }
      builder.down().withDetail("error", problem.code() + ": " + problem.getMessage());
    } finally {
      request.cancel(true);
    }
  }

  private static void report(Health.Builder builder, List<Map<String, Object>> providers) {
    Map<String, String> statuses = new TreeMap<>();
    for (Map<String, Object> provider : providers) {
      statuses.put(String.valueOf(provider.get("name")), String.valueOf(provider.get("status")));
    }
    if (statuses.containsValue("healthy") || statuses.containsValue("degraded")) {
      builder.up();
    } else {
      builder.down().withDetail("error", "no provider of the server is healthy");
    }
    builder.withDetail("providers", statuses);
  }
}
