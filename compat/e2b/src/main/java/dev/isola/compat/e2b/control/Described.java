package dev.isola.compat.e2b.control;

import dev.isola.compat.e2b.envd.EnvdVersion;
import dev.isola.compat.e2b.model.E2bCredentials;
import dev.isola.compat.e2b.model.Marks;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.lifecycle.SpecText;
import dev.isola.engine.selection.HostAccess;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Gate;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.Serving;
import dev.isola.server.route.Exchange;
import dev.isola.spi.SandboxState;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.Volume;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Sandboxes in the words of E2B's clients. */
public record Described(Serving serving, ApiKeys keys) {
  /** Names who runs sandboxes; their clients want it there and do nothing with it. */
  private static final String CLIENT = "isola";

  /** What one without an end is said to have. */
  private static final Instant NEVER = Instant.parse("2999-12-31T00:00:00Z");

  /** Describes one to who may work in it. */
  Map<String, Object> opened(Exchange exchange, SandboxView entry) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("sandboxID", entry.id().value());
    json.put("templateID", Marks.template(entry));
    json.put("clientID", CLIENT);
    json.put("envdVersion", version(entry));
    Marks.of(entry, Marks.ALIAS).ifPresent(alias -> json.put("alias", alias));
    secrets(exchange, entry, json);
    return json;
  }

  private void secrets(Exchange exchange, SandboxView entry, Map<String, Object> json) {
    json.put("domain", Gate.domain(exchange.header("Host").orElse("localhost")));
    boolean host = !HostAccess.of(SpecText.read(entry.spec(), entry.id()).spec()).isNone();
    Scope needed = host ? Scope.ADMIN : Scope.USE;
    json.put(
        "envdAccessToken", keys.tokens().steady(entry.id(), E2bCredentials.ENVD).needing(needed));
    json.put(
        "trafficAccessToken",
        Marks.of(entry, Marks.TRAFFIC).isPresent()
            ? keys.tokens().steady(entry.id(), E2bCredentials.TRAFFIC).needing(needed)
            : null);
  }

  /** Describes one in a list. */
  Map<String, Object> listed(SandboxView entry) {
    SandboxSpec spec = SpecText.read(entry.spec(), entry.id()).spec();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("sandboxID", entry.id().value());
    json.put("templateID", Marks.template(entry));
    json.put("clientID", CLIENT);
    Marks.of(entry, Marks.ALIAS).ifPresent(alias -> json.put("alias", alias));
    json.put("startedAt", entry.createdAt().toString());
    json.put("endAt", entry.expiresAt().orElse(NEVER).toString());
    json.put("cpuCount", Math.max(1, (int) Math.round(spec.limits().cpu())));
    json.put("memoryMB", spec.limits().memoryMb());
    json.put("diskSizeMB", spec.limits().diskMb());
    json.put("metadata", Marks.metadata(entry));
    json.put("state", isAsleep(entry) ? "paused" : "running");
    json.put("envdVersion", version(entry));
    List<Map<String, String>> volumes =
        spec.volumes().stream()
            .filter(one -> one.type() == Volume.Type.VOLUME)
            .map(one -> Map.of("name", one.source(), "path", one.destination()))
            .toList();
    if (!volumes.isEmpty()) {
      json.put("volumeMounts", volumes);
    }
    return json;
  }

  /** Describes one by itself. */
  Map<String, Object> detailed(Exchange exchange, SandboxView entry) {
    Map<String, Object> json = listed(entry);
    secrets(exchange, entry, json);
    json.put("allowInternetAccess", Marks.of(entry, Marks.INTERNET).isPresent());
    json.put("network", Map.of("allowPublicTraffic", Marks.of(entry, Marks.TRAFFIC).isEmpty()));
    Lifecycle lifecycle = SpecText.read(entry.spec(), entry.id()).lifecycle();
    json.put(
        "lifecycle",
        Map.of(
            "onTimeout",
            lifecycle.whenExpired() == ExpiryAction.DESTROY ? "kill" : "pause",
            "autoResume",
            lifecycle.autoResume()));
    return json;
  }

  static boolean isAsleep(SandboxView entry) {
    return entry.state() == SandboxState.PAUSED || entry.state() == SandboxState.STOPPED;
  }

  /** What the provider said of itself last; of one that never did, the least. */
  private String version(SandboxView entry) {
    return serving.parts().health().current().stream()
        .filter(one -> one.name().equals(entry.provider()))
        .flatMap(one -> one.info().stream())
        .map(EnvdVersion::of)
        .findFirst()
        .orElse(EnvdVersion.LEAST);
  }
}
