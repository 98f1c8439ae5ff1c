package dev.isola.engine.config;

import dev.isola.engine.api.DeploymentMode;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.secret.KeySource;
import dev.isola.spi.Isolation;
import dev.isola.spi.Secret;
import dev.isola.spi.spec.EgressAction;
import dev.isola.spi.spec.NetworkMode;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;

/**
 * All configuration keys except those of {@code providers} and {@code pool}; see docs/config.md.
 */
public final class ConfigKeys {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration HOUR = Duration.ofHours(1);

  public static final ConfigKey<String> PROVIDER =
      ConfigKey.of(
          "provider", new ScalarTypes.ProviderName(), ProviderNames.AUTO, "SANDBOX_PROVIDER");
  public static final ConfigKey<DeploymentMode> DEPLOYMENT_MODE =
      ConfigKey.of(
          "deployment_mode", new EnumType<>(DeploymentMode.class), DeploymentMode.SELF_HOSTED);
  public static final ConfigKey<Isolation> FLOOR =
      ConfigKey.of("floor", new EnumType<>(Isolation.class), Isolation.CONTAINER);
  public static final ConfigKey<Boolean> ALLOW_PROCESS =
      ConfigKey.of("allow_process", new ScalarTypes.Flag(), false);
  public static final ConfigKey<Boolean> ALLOW_EMULATION =
      ConfigKey.of("allow_emulation", new ScalarTypes.Flag(), false);
  public static final ConfigKey<Set<NetworkMode>> ALLOW_NETWORKS =
      ConfigKey.of(
          "allow_networks", new NetworkModes(), Set.of(NetworkMode.NONE, NetworkMode.FILTERED));
  public static final ConfigKey<Boolean> ALLOW_HOST_NETWORK =
      ConfigKey.of("allow_host_network", new ScalarTypes.Flag(), false);
  public static final ConfigKey<Boolean> ALLOW_HOST_FOLDERS =
      ConfigKey.of("allow_host_folders", new ScalarTypes.Flag(), false);
  public static final ConfigKey<Boolean> MICROVM_FALLBACK =
      ConfigKey.of(
          "local_microvm_fallback_to_remote",
          new ScalarTypes.Flag(),
          true,
          "LOCAL_MICROVM_FALLBACK_TO_REMOTE");
  public static final ConfigKey<String> MICROVMCTL_BACKEND =
      ConfigKey.of("microvmctl.backend", new ScalarTypes.Label(), "qemu");
  public static final ConfigKey<Duration> HEALTH_INTERVAL =
      ConfigKey.of("health.interval", new DurationType(SECOND, HOUR), Duration.ofSeconds(30));
  public static final ConfigKey<Duration> HEALTH_TIMEOUT =
      ConfigKey.of(
          "health.timeout",
          new DurationType(Duration.ofMillis(100), Duration.ofMinutes(1)),
          Duration.ofSeconds(5));
  public static final ConfigKey<Duration> EXPIRY_INTERVAL =
      ConfigKey.of("expiry.interval", new DurationType(Duration.ofMillis(100), HOUR), SECOND);
  public static final ConfigKey<Duration> RETENTION =
      ConfigKey.of(
          "retention",
          new DurationType(Duration.ofMinutes(1), Duration.ofDays(3650)),
          Duration.ofDays(7));
  public static final ConfigKey<Duration> RECONCILE_INTERVAL =
      ConfigKey.of("reconcile.interval", new DurationType(SECOND, HOUR), Duration.ofSeconds(30));
  public static final ConfigKey<Duration> USAGE_INTERVAL =
      ConfigKey.of("usage.interval", new DurationType(SECOND, HOUR), Duration.ofSeconds(30));
  public static final ConfigKey<Double> USAGE_WARN_AT =
      ConfigKey.of("usage.warn_at", new ScalarTypes.Decimal(0.01, 1), 0.9);
  public static final ConfigKey<Double> ADMISSION_MEMORY_OVERCOMMIT =
      ConfigKey.of("admission.memory_overcommit", new ScalarTypes.Decimal(0.1, 1_000_000), 4.0);
  public static final ConfigKey<Double> ADMISSION_MAX_MEMORY_PRESSURE =
      ConfigKey.of("admission.max_memory_pressure", new ScalarTypes.Decimal(0.1, 100), 10.0);
  public static final ConfigKey<Double> ADMISSION_CPU_OVERCOMMIT =
      ConfigKey.of("admission.cpu_overcommit", new ScalarTypes.Decimal(0, 1_000_000), 0.0);
  public static final ConfigKey<Long> ADMISSION_MEMORY_MB =
      ConfigKey.of("admission.memory_mb", new ScalarTypes.WholeNumber(0, 1L << 40), 0L);
  public static final ConfigKey<Double> ADMISSION_CPU =
      ConfigKey.of("admission.cpu", new ScalarTypes.Decimal(0, 1_000_000), 0.0);
  public static final ConfigKey<Double> ADMISSION_DISK_OVERCOMMIT =
      ConfigKey.of("admission.disk_overcommit", new ScalarTypes.Decimal(0.1, 1_000_000), 100.0);
  public static final ConfigKey<Long> ADMISSION_MIN_FREE_DISK_MB =
      ConfigKey.of("admission.min_free_disk_mb", new ScalarTypes.WholeNumber(0, 1L << 40), 256L);
  public static final ConfigKey<Long> ADMISSION_MIN_FREE_INODES =
      ConfigKey.of("admission.min_free_inodes", new ScalarTypes.WholeNumber(0, 1L << 40), 4096L);
  public static final ConfigKey<Duration> ADMISSION_QUEUE_TIMEOUT =
      ConfigKey.of(
          "admission.queue_timeout", new DurationType(Duration.ZERO, HOUR), Duration.ofSeconds(30));
  public static final ConfigKey<Duration> SANDBOX_TTL =
      ConfigKey.of(
          "sandbox.ttl",
          new DurationType(Duration.ZERO, Duration.ofDays(3650)),
          Duration.ofHours(24));
  public static final ConfigKey<Long> SANDBOX_MAX_DISK_MB =
      ConfigKey.of("sandbox.max_disk_mb", new ScalarTypes.WholeNumber(1, 1L << 30), 102_400L);
  public static final ConfigKey<ShutdownAction> SHUTDOWN =
      ConfigKey.of("shutdown", new EnumType<>(ShutdownAction.class), ShutdownAction.LEAVE);
  public static final ConfigKey<Optional<Secret>> STORE_URL =
      ConfigKey.of("store.url", new ScalarTypes.StoreUrl(), Optional.empty());
  public static final ConfigKey<Optional<KeySource>> SECRETS_KEY =
      ConfigKey.of(
          "secrets.key", new KeySourceType("secrets.key in the data folder"), Optional.empty());
  public static final ConfigKey<Optional<KeySource>> SECRETS_OLD_KEY =
      ConfigKey.of("secrets.old_key", new KeySourceType("none"), Optional.empty());
  public static final ConfigKey<String> SNAPSHOTS_PLACE =
      ConfigKey.of("snapshots.place", new ScalarTypes.SnapshotLocation(), "");
  public static final ConfigKey<Optional<URI>> SNAPSHOTS_ENDPOINT =
      ConfigKey.of("snapshots.endpoint", new ScalarTypes.WebUrl(), Optional.empty());
  public static final ConfigKey<Boolean> METRICS_PROMETHEUS =
      ConfigKey.of("metrics.prometheus", new ScalarTypes.Flag(), true);
  public static final ConfigKey<Optional<URI>> METRICS_OTLP_URL =
      ConfigKey.of("metrics.otlp.url", new ScalarTypes.WebUrl(), Optional.empty());
  public static final ConfigKey<Duration> METRICS_OTLP_INTERVAL =
      ConfigKey.of("metrics.otlp.interval", new DurationType(SECOND, HOUR), Duration.ofMinutes(1));
  public static final ConfigKey<Optional<URI>> TRACES_OTLP_URL =
      ConfigKey.of("traces.otlp.url", new ScalarTypes.WebUrl(), Optional.empty());
  public static final ConfigKey<String> SERVER_HOST =
      ConfigKey.of("server.host", new ScalarTypes.HostName(), "127.0.0.1");
  public static final ConfigKey<Long> SERVER_PORT =
      ConfigKey.of("server.port", new ScalarTypes.WholeNumber(0, 65_535), 7777L);
  public static final ConfigKey<Optional<URI>> SERVER_PEER_URL =
      ConfigKey.of("server.peer_url", new ScalarTypes.WebUrl(), Optional.empty());
  public static final ConfigKey<Duration> SERVER_LEASE =
      ConfigKey.of(
          "server.lease", new DurationType(SECOND, Duration.ofMinutes(1)), Duration.ofSeconds(5));
  public static final ConfigKey<List<String>> SERVER_DOMAINS =
      ConfigKey.of("server.domains", new ScalarTypes.DomainNames(), List.of());
  public static final ConfigKey<Optional<Path>> SERVER_TLS_CERT =
      ConfigKey.of("server.tls.cert", new ScalarTypes.PemFile(), Optional.empty());
  public static final ConfigKey<Optional<Path>> SERVER_TLS_KEY =
      ConfigKey.of("server.tls.key", new ScalarTypes.PemFile(), Optional.empty());
  public static final ConfigKey<Boolean> SERVER_TLS_OR_PLAIN =
      ConfigKey.of("server.tls.or_plain", new ScalarTypes.Flag(), false);
  public static final ConfigKey<Long> SERVER_RATE =
      ConfigKey.of("server.rate.per_second", new ScalarTypes.WholeNumber(0, 1_000_000), 0L);
  public static final ConfigKey<Long> SERVER_BURST =
      ConfigKey.of("server.rate.burst", new ScalarTypes.WholeNumber(1, 1_000_000), 100L);
  public static final ConfigKey<Long> SERVER_CONNECTIONS_PER_CLIENT =
      ConfigKey.of("server.connections_per_client", new ScalarTypes.WholeNumber(0, 10_000), 2_500L);
  public static final ConfigKey<List<String>> SERVER_TRUSTED_PROXIES =
      ConfigKey.of("server.trusted_proxies", new EgressTypes.AddressBlocks(), List.of());
  public static final ConfigKey<Long> SERVER_FAILURES =
      ConfigKey.of("server.auth.failures", new ScalarTypes.WholeNumber(0, 1_000_000), 60L);
  public static final ConfigKey<Long> SERVER_REQUESTS =
      ConfigKey.of("server.concurrent.requests", new ScalarTypes.WholeNumber(0, 1_000_000), 1024L);
  public static final ConfigKey<Long> SERVER_STREAMS =
      ConfigKey.of("server.concurrent.streams", new ScalarTypes.WholeNumber(0, 1_000_000), 256L);
  public static final ConfigKey<Long> SERVER_PREVIEWS =
      ConfigKey.of("server.concurrent.previews", new ScalarTypes.WholeNumber(0, 1_000_000), 512L);
  public static final ConfigKey<Long> SERVER_PREVIEWS_PER_SANDBOX =
      ConfigKey.of(
          "server.concurrent.previews_per_sandbox",
          new ScalarTypes.WholeNumber(0, 1_000_000),
          128L);
  public static final ConfigKey<Boolean> SERVER_AUDIT =
      ConfigKey.of("server.audit.enabled", new ScalarTypes.Flag(), true);
  public static final ConfigKey<Long> SERVER_AUDIT_SIZE =
      ConfigKey.of("server.audit.size_mb", new ScalarTypes.WholeNumber(1, 1024), 16L);
  public static final ConfigKey<Boolean> SERVER_AUDIT_PREVIEWS =
      ConfigKey.of("server.audit.previews", new ScalarTypes.Flag(), false);
  public static final ConfigKey<Optional<URI>> OIDC_ISSUER =
      ConfigKey.of("oidc.issuer", new OidcTypes.SecureUrl(), Optional.empty());
  public static final ConfigKey<Optional<String>> OIDC_CLIENT_ID =
      ConfigKey.of("oidc.client_id", new OidcTypes.ClientId(), Optional.empty());
  public static final ConfigKey<Optional<Secret>> OIDC_CLIENT_SECRET =
      ConfigKey.of("oidc.client_secret", new OidcTypes.HiddenText(), Optional.empty());
  public static final ConfigKey<List<String>> OIDC_SCOPES =
      ConfigKey.of("oidc.scopes", new OidcTypes.Scopes(), List.of("openid", "email"));
  public static final ConfigKey<String> OIDC_CLAIM =
      ConfigKey.of("oidc.claim", new OidcTypes.ClaimName(), "email");
  public static final ConfigKey<SequencedMap<String, String>> OIDC_KEYS =
      ConfigKey.of(
          "oidc.keys",
          new OidcTypes.KeyNames(),
          Collections.unmodifiableSequencedMap(new LinkedHashMap<>()));
  public static final ConfigKey<Optional<URI>> OIDC_PUBLIC_URL =
      ConfigKey.of("oidc.public_url", new OidcTypes.SecureUrl(), Optional.empty());
  public static final ConfigKey<LogFormat> LOG_FORMAT =
      ConfigKey.of("log.format", new EnumType<>(LogFormat.class), LogFormat.AUTO);
  public static final ConfigKey<NetworkMode> E2B_NETWORK =
      ConfigKey.of("e2b.network", new EnumType<>(NetworkMode.class), NetworkMode.NONE);
  public static final ConfigKey<Optional<String>> E2B_DOMAIN =
      ConfigKey.of("e2b.domain", new ScalarTypes.DomainName(), Optional.empty());
  public static final ConfigKey<Boolean> E2B_ALLOW_INSECURE =
      ConfigKey.of("e2b.allow_insecure", new ScalarTypes.Flag(), false);
  public static final ConfigKey<List<String>> EGRESS_DENY =
      ConfigKey.of("egress.deny", new EgressTypes.Destinations(), List.of());
  public static final ConfigKey<List<String>> EGRESS_ALLOW =
      ConfigKey.of("egress.allow", new EgressTypes.Destinations(), List.of());
  public static final ConfigKey<List<String>> EGRESS_LIMIT_TO =
      ConfigKey.of("egress.limit_to", new EgressTypes.Destinations(), List.of());
  public static final ConfigKey<EgressAction> EGRESS_DEFAULT =
      ConfigKey.of("egress.default", new EnumType<>(EgressAction.class), EgressAction.DENY);
  public static final ConfigKey<Optional<Path>> EGRESS_PRESETS =
      ConfigKey.of("egress.presets", new EgressTypes.PresetFile(), Optional.empty());
  public static final ConfigKey<List<String>> EGRESS_ALLOW_ADDRESSES =
      ConfigKey.of("egress.allow_addresses", new EgressTypes.AddressBlocks(), List.of());
  public static final ConfigKey<List<String>> EGRESS_DNS =
      ConfigKey.of("egress.dns", new EgressTypes.NameServers(), List.of());
  public static final ConfigKey<Optional<Path>> EGRESS_TRUST =
      ConfigKey.of("egress.trust", new ScalarTypes.PemFile(), Optional.empty());
  public static final ConfigKey<Duration> MCP_START_TIMEOUT =
      ConfigKey.of("mcp.start_timeout", new DurationType(SECOND, HOUR), Duration.ofMinutes(2));
  public static final ConfigKey<Duration> MCP_REQUEST_TIMEOUT =
      ConfigKey.of("mcp.request_timeout", new DurationType(SECOND, HOUR), Duration.ofMinutes(10));
  public static final ConfigKey<Long> EGRESS_CONNECTIONS =
      ConfigKey.of("egress.connections", new ScalarTypes.WholeNumber(1, 512), 256L);
  public static final ConfigKey<Long> EGRESS_CONNECTIONS_PER_MINUTE =
      ConfigKey.of(
          "egress.connections_per_minute", new ScalarTypes.WholeNumber(1, 1_000_000), 6000L);
  public static final ConfigKey<Long> EGRESS_BYTES_PER_SECOND =
      ConfigKey.of("egress.bytes_per_second", new ScalarTypes.WholeNumber(0, 1L << 40), 0L);
  public static final ConfigKey<Long> EGRESS_BYTES =
      ConfigKey.of("egress.bytes", new ScalarTypes.WholeNumber(0, 1L << 60), 0L);
  public static final ConfigKey<Path> DATA =
      ConfigKey.of("data", new ScalarTypes.Folder(), MachineInfo::dataFolder);

  public static final List<ConfigKey<?>> ALL =
      List.of(
          PROVIDER,
          DEPLOYMENT_MODE,
          FLOOR,
          ALLOW_PROCESS,
          ALLOW_EMULATION,
          ALLOW_NETWORKS,
          ALLOW_HOST_NETWORK,
          ALLOW_HOST_FOLDERS,
          MICROVM_FALLBACK,
          MICROVMCTL_BACKEND,
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
          ADMISSION_DISK_OVERCOMMIT,
          ADMISSION_MIN_FREE_DISK_MB,
          ADMISSION_MIN_FREE_INODES,
          ADMISSION_QUEUE_TIMEOUT,
          SANDBOX_TTL,
          SANDBOX_MAX_DISK_MB,
          SHUTDOWN,
          STORE_URL,
          SECRETS_KEY,
          SECRETS_OLD_KEY,
          SNAPSHOTS_PLACE,
          SNAPSHOTS_ENDPOINT,
          METRICS_PROMETHEUS,
          METRICS_OTLP_URL,
          METRICS_OTLP_INTERVAL,
          TRACES_OTLP_URL,
          SERVER_HOST,
          SERVER_PORT,
          SERVER_PEER_URL,
          SERVER_LEASE,
          SERVER_DOMAINS,
          SERVER_TLS_CERT,
          SERVER_TLS_KEY,
          SERVER_TLS_OR_PLAIN,
          SERVER_RATE,
          SERVER_BURST,
          SERVER_CONNECTIONS_PER_CLIENT,
          SERVER_TRUSTED_PROXIES,
          SERVER_FAILURES,
          SERVER_REQUESTS,
          SERVER_STREAMS,
          SERVER_PREVIEWS,
          SERVER_PREVIEWS_PER_SANDBOX,
          SERVER_AUDIT,
          SERVER_AUDIT_SIZE,
          SERVER_AUDIT_PREVIEWS,
          OIDC_ISSUER,
          OIDC_CLIENT_ID,
          OIDC_CLIENT_SECRET,
          OIDC_SCOPES,
          OIDC_CLAIM,
          OIDC_KEYS,
          OIDC_PUBLIC_URL,
          LOG_FORMAT,
          E2B_NETWORK,
          E2B_DOMAIN,
          E2B_ALLOW_INSECURE,
          EGRESS_DENY,
          EGRESS_ALLOW,
          EGRESS_LIMIT_TO,
          EGRESS_DEFAULT,
          EGRESS_PRESETS,
          EGRESS_ALLOW_ADDRESSES,
          EGRESS_DNS,
          EGRESS_TRUST,
          MCP_START_TIMEOUT,
          MCP_REQUEST_TIMEOUT,
          EGRESS_CONNECTIONS,
          EGRESS_CONNECTIONS_PER_MINUTE,
          EGRESS_BYTES_PER_SECOND,
          EGRESS_BYTES,
          DATA);

  private ConfigKeys() {}

  static Optional<ConfigKey<?>> find(String name) {
    for (ConfigKey<?> key : ALL) {
      if (key.name().equals(name)) {
        return Optional.of(key);
      }
    }
    return Optional.empty();
  }
}
