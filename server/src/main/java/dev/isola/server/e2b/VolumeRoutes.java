package dev.isola.server.e2b;

import dev.isola.server.JsonText;
import dev.isola.server.auth.Scope;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Settings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Volumes by name. The provider makes one when the first sandbox mounts it; what is in it is
 * reached through a sandbox. Secrets of E2B, which are put into requests on their way out, are
 * refused.
 */
record VolumeRoutes(Settings settings) {
  private static final String SCOPE = "e2b-volume";
  private static final String NAME = "[A-Za-z0-9][A-Za-z0-9_.-]{0,127}";
  private static final SecureRandom RANDOM = new SecureRandom();

  List<Route> routes() {
    return List.of(
        ControlRoutes.route("POST", "/volumes", "e2bVolume", "Names a volume.").by(this::create),
        ControlRoutes.route("GET", "/volumes", "e2bVolumes", "Lists volumes.")
            .needs(Scope.READ)
            .by(exchange -> exchange.json(200, all().values().stream().toList())),
        ControlRoutes.route("GET", "/volumes/{volume}", "e2bGetVolume", "Describes a volume.")
            .needs(Scope.READ)
            .by(exchange -> exchange.json(200, need(exchange))),
        ControlRoutes.route("DELETE", "/volumes/{volume}", "e2bRemoveVolume", "Is refused.")
            .by(
                exchange -> {
                  need(exchange);
                  throw absent("removing a volume", "remove it where its provider keeps it");
                }),
        ControlRoutes.route("GET", "/secrets", "e2bSecrets", "Lists none.")
            .needs(Scope.READ)
            .by(exchange -> exchange.json(200, List.of())),
        ControlRoutes.route("POST", "/secrets", "e2bSecret", "Is refused.")
            .by(
                exchange -> {
                  throw absent(
                      "keeping secrets for requests of sandboxes",
                      "give the sandbox what it may know in envs");
                }));
  }

  private void create(Exchange exchange) throws IOException {
    String name = new Body(exchange.body()).needed("name");
    if (!name.matches(NAME)) {
      throw Body.wrong("name", "must be letters, digits, . _ and -, at most 128");
    }
    if (all().values().stream().anyMatch(one -> name.equals(one.get("name")))) {
      throw Fault.of(ErrorCode.CONFLICT, "there is a volume " + name, "choose another name")
          .exception();
    }
    Map<String, Object> volume = new LinkedHashMap<>();
    volume.put("volumeID", SandboxId.random(RANDOM).value());
    volume.put("name", name);
    volume.put("token", SandboxId.random(RANDOM).value());
    settings.put(
        SCOPE,
        String.valueOf(volume.get("volumeID")),
        new String(JsonText.of(volume), StandardCharsets.UTF_8));
    exchange.json(201, volume);
  }

  private Map<String, Map<String, Object>> all() {
    Map<String, Map<String, Object>> volumes = new LinkedHashMap<>();
    settings.all(SCOPE).forEach((id, text) -> volumes.put(id, JsonText.object(text)));
    return volumes;
  }

  private Map<String, Object> need(Exchange exchange) {
    return Optional.ofNullable(all().get(exchange.path("volume")))
        .orElseThrow(
            () ->
                Fault.of(ErrorCode.FILE_NOT_FOUND, "there is no such volume", "list the volumes")
                    .exception());
  }

  private static SandboxException absent(String what, String remedy) {
    return Fault.of(ErrorCode.NOT_IMPLEMENTED, what + " is not done here", remedy).exception();
  }
}
