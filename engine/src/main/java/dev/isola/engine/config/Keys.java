package dev.isola.engine.config;

import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.selection.DeploymentMode;
import dev.isola.spi.Isolation;
import dev.isola.spi.Secret;
import dev.isola.spi.spec.NetworkMode;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** All keys but those of {@code providers} and {@code pool}. docs/config.md explains each. */
public final class Keys {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration HOUR = Duration.ofHours(1);

  public static final Key<String> PROVIDER =
      Key.of("provider", new Scalars.ProviderName(), ProviderNames.AUTO, "SANDBOX_PROVIDER");
  public static final Key<DeploymentMode> DEPLOYMENT_MODE =
      Key.of("deployment_mode", new Choice<>(DeploymentMode.class), DeploymentMode.SELF_HOSTED);
  public static final Key<Isolation> FLOOR =
      Key.of("floor", new Choice<>(Isolation.class), Isolation.CONTAINER);
  public static final Key<Boolean> ALLOW_PROCESS =
      Key.of("allow_process", new Scalars.Flag(), false);
  public static final Key<Boolean> ALLOW_HOST_NETWORK =
      Key.of("allow_host_network", new Scalars.Flag(), false);
  public static final Key<Boolean> ALLOW_HOST_FOLDERS =
      Key.of("allow_host_folders", new Scalars.Flag(), false);
  public static final Key<Boolean> MICROVM_FALLBACK =
      Key.of(
          "local_microvm_fallback_to_remote",
          new Scalars.Flag(),
          true,
          "LOCAL_MICROVM_FALLBACK_TO_REMOTE");
  public static final Key<Duration> HEALTH_INTERVAL =
      Key.of("health.interval", new Durations(SECOND, HOUR), Duration.ofSeconds(30));
  public static final Key<Duration> HEALTH_TIMEOUT =
      Key.of(
          "health.timeout",
          new Durations(Duration.ofMillis(100), Duration.ofMinutes(1)),
          Duration.ofSeconds(5));
  public static final Key<Duration> EXPIRY_INTERVAL =
      Key.of("expiry.interval", new Durations(Duration.ofMillis(100), HOUR), SECOND);
  public static final Key<Duration> RETENTION =
      Key.of(
          "retention",
          new Durations(Duration.ofMinutes(1), Duration.ofDays(3650)),
          Duration.ofDays(7));
  public static final Key<Duration> RECONCILE_INTERVAL =
      Key.of("reconcile.interval", new Durations(SECOND, HOUR), Duration.ofSeconds(30));
  public static final Key<Duration> USAGE_INTERVAL =
      Key.of("usage.interval", new Durations(SECOND, HOUR), Duration.ofSeconds(30));
  public static final Key<Double> USAGE_WARN_AT =
      Key.of("usage.warn_at", new Scalars.Decimal(0.01, 1), 0.9);
  public static final Key<Double> ADMISSION_MEMORY_OVERCOMMIT =
      Key.of("admission.memory_overcommit", new Scalars.Decimal(0.1, 1_000_000), 4.0);
  public static final Key<Double> ADMISSION_MAX_MEMORY_PRESSURE =
      Key.of("admission.max_memory_pressure", new Scalars.Decimal(0.1, 100), 10.0);
  public static final Key<Double> ADMISSION_CPU_OVERCOMMIT =
      Key.of("admission.cpu_overcommit", new Scalars.Decimal(0, 1_000_000), 0.0);
  public static final Key<Long> ADMISSION_MEMORY_MB =
      Key.of("admission.memory_mb", new Scalars.Whole(0, 1L << 40), 0L);
  public static final Key<Double> ADMISSION_CPU =
      Key.of("admission.cpu", new Scalars.Decimal(0, 1_000_000), 0.0);
  public static final Key<Duration> ADMISSION_QUEUE_TIMEOUT =
      Key.of("admission.queue_timeout", new Durations(Duration.ZERO, HOUR), Duration.ofSeconds(30));
  public static final Key<Duration> SANDBOX_TTL =
      Key.of(
          "sandbox.ttl", new Durations(Duration.ZERO, Duration.ofDays(3650)), Duration.ofHours(24));
  public static final Key<Shutdown> SHUTDOWN =
      Key.of("shutdown", new Choice<>(Shutdown.class), Shutdown.LEAVE);
  public static final Key<Optional<Secret>> STORE_URL =
      Key.of("store.url", new Scalars.StoreUrl(), Optional.empty());
  public static final Key<String> SNAPSHOTS_PLACE =
      Key.of("snapshots.place", new Scalars.SnapshotPlace(), "");
  public static final Key<Optional<URI>> SNAPSHOTS_ENDPOINT =
      Key.of("snapshots.endpoint", new Scalars.WebUrl(), Optional.empty());
  public static final Key<Boolean> METRICS_PROMETHEUS =
      Key.of("metrics.prometheus", new Scalars.Flag(), true);
  public static final Key<Optional<URI>> METRICS_OTLP_URL =
      Key.of("metrics.otlp.url", new Scalars.WebUrl(), Optional.empty());
  public static final Key<Duration> METRICS_OTLP_INTERVAL =
      Key.of("metrics.otlp.interval", new Durations(SECOND, HOUR), Duration.ofMinutes(1));
  public static final Key<Optional<URI>> TRACES_OTLP_URL =
      Key.of("traces.otlp.url", new Scalars.WebUrl(), Optional.empty());
  public static final Key<String> SERVER_HOST =
      Key.of("server.host", new Scalars.HostName(), "127.0.0.1");
  public static final Key<Long> SERVER_PORT =
      Key.of("server.port", new Scalars.Whole(0, 65_535), 7777L);
  public static final Key<List<String>> SERVER_DOMAINS =
      Key.of("server.domains", new Scalars.Domains(), List.of());
  public static final Key<Optional<Path>> SERVER_TLS_CERT =
      Key.of("server.tls.cert", new Scalars.PemFile(), Optional.empty());
  public static final Key<Optional<Path>> SERVER_TLS_KEY =
      Key.of("server.tls.key", new Scalars.PemFile(), Optional.empty());
  public static final Key<Boolean> SERVER_TLS_OR_PLAIN =
      Key.of("server.tls.or_plain", new Scalars.Flag(), false);
  public static final Key<Long> SERVER_RATE =
      Key.of("server.rate.per_second", new Scalars.Whole(0, 1_000_000), 0L);
  public static final Key<Long> SERVER_BURST =
      Key.of("server.rate.burst", new Scalars.Whole(1, 1_000_000), 100L);
  public static final Key<Long> SERVER_FAILURES =
      Key.of("server.auth.failures", new Scalars.Whole(0, 1_000_000), 60L);
  public static final Key<Long> SERVER_REQUESTS =
      Key.of("server.concurrent.requests", new Scalars.Whole(0, 1_000_000), 1024L);
  public static final Key<Long> SERVER_STREAMS =
      Key.of("server.concurrent.streams", new Scalars.Whole(0, 1_000_000), 256L);
  public static final Key<Long> SERVER_PREVIEWS =
      Key.of("server.concurrent.previews", new Scalars.Whole(0, 1_000_000), 512L);
  public static final Key<Long> SERVER_PREVIEWS_PER_SANDBOX =
      Key.of("server.concurrent.previews_per_sandbox", new Scalars.Whole(0, 1_000_000), 128L);
  public static final Key<Boolean> SERVER_AUDIT =
      Key.of("server.audit.enabled", new Scalars.Flag(), true);
  public static final Key<Long> SERVER_AUDIT_SIZE =
      Key.of("server.audit.size_mb", new Scalars.Whole(1, 1024), 16L);
  public static final Key<Boolean> SERVER_AUDIT_PREVIEWS =
      Key.of("server.audit.previews", new Scalars.Flag(), false);
  public static final Key<LogFormat> LOG_FORMAT =
      Key.of("log.format", new Choice<>(LogFormat.class), LogFormat.AUTO);
  public static final Key<NetworkMode> E2B_NETWORK =
      Key.of("e2b.network", new Choice<>(NetworkMode.class), NetworkMode.NONE);
  public static final Key<Path> DATA = Key.of("data", new Scalars.Folder(), Machine::data);

  public static final List<Key<?>> ALL =
      List.of(
          PROVIDER,
          DEPLOYMENT_MODE,
          FLOOR,
          ALLOW_PROCESS,
          ALLOW_HOST_NETWORK,
          ALLOW_HOST_FOLDERS,
          MICROVM_FALLBACK,
          HEALTH_INTERVAL,
          HEALTH_TIMEOUT,
          EXPIRY_INTERVAL,
          RETENTION,
          RECONCILE_INTERVAL,
          USAGE_INTERVAL,
          USAGE_WARN_AT,
          ADMISSION_MEMORY_OVERCOMMIT,
          ADMISSION_MAX_MEMORY_PRESSURE,
          ADMISSION_CPU_OVERCOMMIT,
          ADMISSION_MEMORY_MB,
          ADMISSION_CPU,
          ADMISSION_QUEUE_TIMEOUT,
          SANDBOX_TTL,
          SHUTDOWN,
          STORE_URL,
          SNAPSHOTS_PLACE,
          SNAPSHOTS_ENDPOINT,
          METRICS_PROMETHEUS,
          METRICS_OTLP_URL,
          METRICS_OTLP_INTERVAL,
          TRACES_OTLP_URL,
          SERVER_HOST,
          SERVER_PORT,
          SERVER_DOMAINS,
          SERVER_TLS_CERT,
          SERVER_TLS_KEY,
          SERVER_TLS_OR_PLAIN,
          SERVER_RATE,
          SERVER_BURST,
          SERVER_FAILURES,
          SERVER_REQUESTS,
          SERVER_STREAMS,
          SERVER_PREVIEWS,
          SERVER_PREVIEWS_PER_SANDBOX,
          SERVER_AUDIT,
          SERVER_AUDIT_SIZE,
          SERVER_AUDIT_PREVIEWS,
          LOG_FORMAT,
          E2B_NETWORK,
          DATA);

  private Keys() {}

  static Optional<Key<?>> named(String name) {
    for (Key<?> key : ALL) {
      if (key.name().equals(name)) {
        return Optional.of(key);
      }
    }
    return Optional.empty();
  }
}
