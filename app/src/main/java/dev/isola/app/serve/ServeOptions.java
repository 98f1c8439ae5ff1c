package dev.isola.app.serve;

import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.IoErrors;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.server.HttpServerOptions;
import dev.isola.server.RequestListener;
import dev.isola.server.Tls;
import dev.isola.server.audit.AuditLog;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.context.ServerContext;
import dev.isola.server.limit.ClientAddresses;
import dev.isola.server.limit.ConnectionLimits;
import dev.isola.server.limit.RequestLimits;
import dev.isola.server.oidc.OidcSettings;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.AddressBlock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** Reads the server's options from the configuration, except the address. */
final class ServeOptions {
  private static final String AUDIT = "audit.jsonl";
  private static final String OPEN_FILES = "Max open files";

  private ServeOptions() {}

  /**
   * @param authority issues the certificate if the configuration names none
   * @param makeRoom called when the disk is full; returns whether some space is free now
   * @param closers receives the actions that close what is opened here
   */
  static HttpServerOptions of(
      Config config,
      DataFolder data,
      Optional<LocalCertificateAuthority> authority,
      ServerContext serving,
      InstantSource clock,
      ServerLog log,
      BooleanSupplier makeRoom,
      Deque<Runnable> closers) {
    List<RequestListener> listeners = new ArrayList<>();
    listeners.add(entry -> count(serving, entry));
    auditFile(config, data)
        .map(file -> audit(config, file, clock, log, makeRoom))
        .ifPresent(
            audit -> {
              closers.push(audit::close);
              listeners.add(audit);
            });
    return new HttpServerOptions(
        tls(config, authority),
        new RequestLimits(
            config.get(ConfigKeys.SERVER_RATE),
            config.get(ConfigKeys.SERVER_BURST),
            config.get(ConfigKeys.SERVER_FAILURES),
            config.get(ConfigKeys.SERVER_REQUESTS),
            config.get(ConfigKeys.SERVER_STREAMS),
            config.get(ConfigKeys.SERVER_PREVIEWS),
            config.get(ConfigKeys.SERVER_PREVIEWS_PER_SANDBOX)),
        listeners,
        () -> serving.current().map(parts -> parts.engine().tracer()),
        () -> serving.components().peers(),
        ConnectionLimits.of(
            descriptors(), config.get(ConfigKeys.SERVER_CONNECTIONS_PER_CLIENT).intValue()),
        new ClientAddresses(
            config.get(ConfigKeys.SERVER_TRUSTED_PROXIES).stream()
                .flatMap(text -> AddressBlock.parse(text).stream())
                .toList()));
  }

  /** Returns how many files this process may open. The JVM has raised it to what it may be. */
  private static long descriptors() {
    try (Stream<String> limits = Files.lines(Path.of("/proc/self/limits"))) {
      return limits
          .filter(line -> line.startsWith(OPEN_FILES))
          .map(line -> line.substring(OPEN_FILES.length()).strip().split("\\s+")[0])
          .filter(soft -> soft.matches("[0-9]{1,18}"))
          .map(Long::parseLong)
          .findFirst()
          .orElse(Long.MAX_VALUE);
    } catch (IOException e) {
      return Long.MAX_VALUE;
    }
  }

  /** With the server's own authority, a loopback address also accepts plain HTTP. */
  private static Optional<Tls> tls(Config config, Optional<LocalCertificateAuthority> authority) {
    boolean plain = config.get(ConfigKeys.SERVER_TLS_OR_PLAIN);
    boolean loopback = HostOriginFilter.isLoopback(config.get(ConfigKeys.SERVER_HOST));
    return authority
        .map(one -> one.issue().allowPlaintext(plain || loopback))
        .or(
            () ->
                Tls.of(
                        config.get(ConfigKeys.SERVER_TLS_CERT),
                        config.get(ConfigKeys.SERVER_TLS_KEY))
                    .map(tls -> tls.allowPlaintext(plain)));
  }

  private static void count(ServerContext serving, RequestListener.CompletedRequest entry) {
    serving
        .current()
        .ifPresent(
            parts ->
                parts
                    .engine()
                    .metrics()
                    .recorder()
                    .recordHttpRequest(
                        entry.method(), entry.route(), entry.status(), entry.nanos()));
  }

  /** Returns how people sign in with an OpenID Connect provider, if one is configured. */
  static Optional<OidcSettings> oidc(Config config) {
    return config
        .get(ConfigKeys.OIDC_ISSUER)
        .map(
            issuer ->
                new OidcSettings(
                    issuer,
                    config.get(ConfigKeys.OIDC_CLIENT_ID).orElseThrow(),
                    config.get(ConfigKeys.OIDC_CLIENT_SECRET),
                    config.get(ConfigKeys.OIDC_SCOPES),
                    config.get(ConfigKeys.OIDC_CLAIM),
                    config.get(ConfigKeys.OIDC_KEYS),
                    config.get(ConfigKeys.OIDC_PUBLIC_URL)));
  }

  /** Returns the file of the audit log; empty if the configuration disables it. */
  static Optional<Path> auditFile(Config config, DataFolder data) {
    return config.get(ConfigKeys.SERVER_AUDIT)
        ? Optional.of(data.path().resolve(AUDIT))
        : Optional.empty();
  }

  private static AuditLog audit(
      Config config, Path file, InstantSource clock, ServerLog log, BooleanSupplier makeRoom) {
    try {
      return AuditLog.open(
          file,
          config.get(ConfigKeys.SERVER_AUDIT_SIZE) << 20,
          config.get(ConfigKeys.SERVER_AUDIT_PREVIEWS),
          clock,
          log,
          makeRoom);
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the audit log cannot be written: " + IoErrors.describe(e),
              "make " + file.getParent() + " writable, or set server.audit.enabled to false")
          .exception(e);
    }
  }
}
