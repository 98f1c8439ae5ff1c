package dev.isola.compat.e2b.control;

import dev.isola.compat.e2b.envd.EnvdVersion;
import dev.isola.compat.e2b.model.E2bCredentials;
import dev.isola.compat.e2b.model.E2bLabels;
import dev.isola.compat.e2b.model.E2bNetworkConfig;
import dev.isola.compat.e2b.model.E2bSandboxIds;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.engine.api.HostAccess;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.spi.SandboxState;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Describes sandboxes in the JSON of E2B's API.
 *
 * @param domain the domain of sandboxes; empty for that of the request
 */
public record E2bSandboxView(ServerContext context, ApiKeys keys, Optional<String> domain) {
  /** Reported as the end of a sandbox that does not expire. */
  private static final Instant NEVER = Instant.parse("2999-12-31T00:00:00Z");

  /** Describes a sandbox to a client that may use it, including its access tokens. */
  Map<String, Object> connected(Exchange exchange, SandboxView entry) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("sandboxID", entry.id().value());
    json.put("templateID", E2bLabels.template(entry));
    json.put("clientID", E2bSandboxIds.CLIENT);
    json.put("envdVersion", EnvdVersion.of(context, entry.provider()));
    E2bLabels.of(entry, E2bLabels.ALIAS).ifPresent(alias -> json.put("alias", alias));
    secrets(exchange, entry, json);
    return json;
  }

  private void secrets(Exchange exchange, SandboxView entry, Map<String, Object> json) {
    String asked = exchange.header("Host").orElse("localhost");
    json.put(
        "domain",
        domain
            .map(name -> HostOriginFilter.withPortOf(asked, name))
            .orElseGet(() -> HostOriginFilter.previewDomain(asked)));
    boolean host = !HostAccess.of(entry.request().spec()).isNone();
    Scope needed = host ? Scope.ADMIN : Scope.USE;
    json.put(
        "envdAccessToken",
        keys.tokens().stableToken(entry.id(), E2bCredentials.ENVD).requiring(needed));
    json.put(
        "trafficAccessToken",
        E2bLabels.of(entry, E2bLabels.PRIVATE_TRAFFIC).isPresent()
            ? keys.tokens().stableToken(entry.id(), E2bCredentials.TRAFFIC).requiring(needed)
            : null);
  }

  /** Describes a sandbox as an element of a list. */
  Map<String, Object> summary(SandboxView entry) {
    SandboxSpec spec = entry.request().spec();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("sandboxID", entry.id().value());
    json.put("templateID", E2bLabels.template(entry));
    json.put("clientID", E2bSandboxIds.CLIENT);
    E2bLabels.of(entry, E2bLabels.ALIAS).ifPresent(alias -> json.put("alias", alias));
    json.put("startedAt", entry.createdAt().toString());
    json.put("endAt", entry.expiresAt().orElse(NEVER).toString());
    json.put("cpuCount", Math.max(1, (int) Math.round(spec.limits().cpu())));
    json.put("memoryMB", spec.limits().memoryMb());
    json.put("diskSizeMB", spec.limits().diskMb());
    json.put("metadata", E2bLabels.metadata(entry));
    json.put("state", isSuspended(entry) ? "paused" : "running");
    json.put("envdVersion", EnvdVersion.of(context, entry.provider()));
    List<Map<String, String>> volumes =
        spec.volumes().stream()
            .filter(one -> one.type() == VolumeMount.Type.VOLUME)
            .map(one -> Map.of("name", one.source(), "path", one.destination()))
            .toList();
    if (!volumes.isEmpty()) {
      json.put("volumeMounts", volumes);
    }
    return json;
  }

  /** Describes a single sandbox with its network and lifecycle. */
  Map<String, Object> details(Exchange exchange, SandboxView entry) {
    Map<String, Object> json = summary(entry);
    secrets(exchange, entry, json);
    json.put("allowInternetAccess", E2bLabels.of(entry, E2bLabels.INTERNET).isPresent());
    json.put("network", E2bNetworkConfig.of(entry).fields());
    Lifecycle lifecycle = entry.request().lifecycle();
    json.put(
        "lifecycle",
        Map.of(
            "onTimeout",
            lifecycle.whenExpired() == ExpiryAction.DESTROY ? "kill" : "pause",
            "autoResume",
            lifecycle.autoResume()));
    return json;
  }

  static boolean isSuspended(SandboxView entry) {
    return entry.state() == SandboxState.PAUSED || entry.state() == SandboxState.STOPPED;
  }

  /** Returns whether a sandbox whose spec has no network mode has no network. */
  boolean isOfflineByDefault(SandboxView entry) {
    return provider(entry)
        .filter(info -> info.support().networkModes().contains(NetworkMode.NONE))
        .isPresent();
  }

  private Optional<ProviderInfo> provider(SandboxView entry) {
    return context.components().health().current().stream()
        .filter(one -> one.name().equals(entry.provider()))
        .flatMap(one -> one.info().stream())
        .findFirst();
  }
}
