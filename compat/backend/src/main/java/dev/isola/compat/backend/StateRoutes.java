package dev.isola.compat.backend;

import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Snapshotting;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Operations on the state of sandboxes: fork points and captures. */
record StateRoutes(
    ServerContext context, PeerSandboxes sandboxes, ForkPoints points, Captures captures) {
  private static final String TAR = "application/x-tar";
  private static final String CAPTURE_ID = "Isola-Capture-Id";

  private static final Parameter POINT =
      Parameter.path("point", BackendRoutes.WORD, "the fork point");

  List<Route> routes() {
    return List.of(
        BackendRoutes.one("POST", "/fork-points", "backendForkPoint", "Creates a fork point.")
            .handledBy(this::createForkPoint),
        BackendRoutes.route(
                "POST", "/fork-points", "backendOpenForkPoint", "Restores a fork point of memory.")
            .needs(Scope.ADMIN) // a runtime may trust the archives that it restores
            .takes(Parameter.query("provider", BackendRoutes.WORD, "a provider of this server"))
            .takes(new Route.Body.Stream(TAR))
            .handledBy(this::openForkPoint),
        BackendRoutes.route(
                "GET",
                "/fork-points/{point}/archive",
                "backendForkPointArchive",
                "Returns a fork point of memory as an archive.")
            .takes(POINT)
            .handledBy(this::archive),
        BackendRoutes.route(
                "DELETE", "/fork-points/{point}", "backendRemoveForkPoint", "Removes a fork point.")
            .takes(POINT)
            .handledBy(
                exchange -> {
                  points.remove(exchange.path("point"));
                  exchange.noContent();
                }),
        BackendRoutes.one("POST", "/captures", "backendCapture", "Captures what a sandbox wrote.")
            .handledBy(this::capture),
        BackendRoutes.route(
                "GET", "/captures/{capture}", "backendCaptureResult", "Returns facts of a capture.")
            .takes(Parameter.path("capture", BackendRoutes.WORD, "the capture"))
            .handledBy(this::captureResult));
  }

  private void createForkPoint(Exchange exchange) throws IOException {
    SandboxView entry = sandboxes.require(exchange);
    PauseKind kind = new PeerRequest(exchange.body()).choice("kind", PauseKind.values());
    answer(
        exchange,
        entry.provider(),
        () ->
            switch (kind) {
              case FILESYSTEM -> sandboxes.capability(entry, Forking.class).createForkPoint();
              case MEMORY -> sandboxes.capability(entry, MemoryForking.class).createForkPoint();
            });
  }

  private void openForkPoint(Exchange exchange) throws IOException {
    String name =
        exchange
            .query("provider")
            .map(ProviderNames::canonical)
            .orElseThrow(
                () ->
                    Fault.of(
                            ErrorCode.INVALID_REQUEST,
                            "the parameter provider is missing",
                            "name the provider of the sandbox that was saved")
                        .exception());
    Map<String, Provider> providers = context.components().registry().providers();
    Provider provider =
        Optional.ofNullable(providers.get(name))
            .orElseThrow(() -> ProviderNames.unknown(name, providers.keySet()));
    answer(exchange, name, () -> provider.openForkPoint(exchange.content()));
  }

  private void answer(Exchange exchange, String provider, Supplier<Forking.ForkPoint> create)
      throws IOException {
    points.reserve();
    Forking.ForkPoint point;
    try {
      point = create.get();
    } catch (SandboxException e) {
      points.release();
      throw e;
    }
    long frozen = point.frozenFor().toMillis();
    exchange.json(201, Map.of("id", points.add(point, provider), "frozenMs", frozen));
  }

  private void archive(Exchange exchange) throws IOException {
    ForkPoints.Held held = points.require(exchange.path("point"));
    if (!(held.point() instanceof MemoryForking.MemoryForkPoint memory)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the fork point has no memory",
              "create one of the kind memory")
          .exception();
    }
    try (InputStream archive = memory.archive();
        OutputStream out = exchange.begin(200, TAR, Map.of())) {
      archive.transferTo(out);
    }
  }

  private void capture(Exchange exchange) throws IOException {
    SandboxView entry = sandboxes.require(exchange);
    PeerRequest body = new PeerRequest(exchange.body());
    Snapshotting.CaptureRequest request =
        Snapshotting.CaptureRequest.written(
                new Snapshotting.Coverage(body.optionalText("image", 256), body.texts("folders")))
            .since(body.count("since"));
    if (body.flag("sparse")) {
      request = request.withoutHoles();
    }
    Snapshotting snapshotting = sandboxes.capability(entry, Snapshotting.class);
    String id = ForkPoints.randomId();
    try (Snapshotting.Capture capture =
            snapshotting.capture(body.flag("freeze") ? request.frozen() : request);
        OutputStream out = exchange.begin(200, TAR, Map.of(CAPTURE_ID, id))) {
      capture.archive().transferTo(out);
      captures.add(id, capture.result());
    }
  }

  private void captureResult(Exchange exchange) throws IOException {
    Snapshotting.CaptureResult result = captures.take(exchange.path("capture"));
    exchange.json(
        200, Map.of("capturedAt", result.capturedAt(), "frozenMs", result.frozenFor().toMillis()));
  }
}
