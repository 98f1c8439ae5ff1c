package dev.isola.server.api;

import dev.isola.document.RecipeDocument;
import dev.isola.document.recipe.Recipe;
import dev.isola.engine.api.BuildLogEntry;
import dev.isola.engine.api.BuildLogEntry.Level;
import dev.isola.engine.api.BuildSettings;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.template.ImageBuilds;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ImageService;
import dev.isola.server.context.ServerContext;
import dev.isola.server.error.Problem;
import dev.isola.server.route.DocumentShape;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Query;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.Violation;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Routes that build images from recipes and make images of sandboxes. Both require the scope admin,
 * because images determine what runs in the sandboxes of other clients.
 */
record ImageBuildRoutes(ServerContext context, ImageService images) {
  private static final Shape NETWORKS =
      new Shape.Choice(Stream.of(NetworkMode.values()).map(JsonViews::wireName).toList());

  private static final Shape.Obj BUILD =
      new Shape.Obj(
          Field.optional(
              "recipe",
              new DocumentShape(RecipeShapes.RECIPE),
              "build recipe, as of a template; start, ready, cpu and memoryMb have no effect"),
          Field.optional(
              "ready",
              Shapes.WORD,
              "image to build without a recipe: base, python, node, java, full"),
          Field.optional("provider", Shapes.WORD, "provider that runs the steps"),
          Field.optional("network", NETWORKS, "network of the steps; default none"),
          Field.optional("replace", Shapes.FLAG, "replace an existing image; default false"));

  private static final Shape.Obj COMMIT =
      new Shape.Obj(
          Field.required("image", ImageRoutes.NAME_SHAPE, "name of the new image")
              .example("tools:1.0"),
          Field.optional("replace", Shapes.FLAG, "replace an existing image; default false"));

  /** Work that reports its progress as lines. */
  private interface BuildTask {
    void run(Consumer<BuildLogEntry> log);
  }

  List<Route> routes() {
    return List.of(
        Route.of(
                "POST",
                ImageRoutes.TEMPLATE + "/{name}/builds",
                "buildImage",
                "Builds an image from a recipe, or a ready one. Streams events line, then image or"
                    + " problem. The build is cancelled when the client disconnects.")
            .needs(Scope.ADMIN)
            .takes(ImageRoutes.NAME)
            .takes(new Body.Json(BUILD, true))
            .answers(Response.of("text/event-stream", "lines, then image or problem"))
            .handledBy(this::build),
        Route.of(
                "POST",
                "/api/v1/sandboxes/{id}/commit",
                "commitSandbox",
                "Makes an image of the files of a sandbox, without its volumes.")
            .needs(Scope.ADMIN)
            .takes(Shapes.ID)
            .takes(new Body.Json(COMMIT, true))
            .answers(Response.json(201, ImageRoutes.IMAGE))
            .handledBy(this::commit));
  }

  private void commit(Exchange exchange) throws IOException {
    String image = exchange.text("image");
    context.engine().imageCommits().commit(exchange.sandbox(), image, replaces(exchange));
    exchange.json(201, ImageRoutes.json(images.get(image)));
  }

  private static boolean replaces(Exchange exchange) {
    return Boolean.TRUE.equals(exchange.body().get("replace"));
  }

  private void build(Exchange exchange) throws IOException {
    BuildTask task = task(exchange); // an invalid request is an error response, not a stream
    try (SseResponse sse = SseResponse.begin(exchange);
        LogRelay relay = LogRelay.start(task::run)) {
      long number = 0;
      while (!exchange.isShuttingDown()) {
        Optional<LogRelay.Message> message = relay.next(SseResponse.KEEPALIVE_INTERVAL);
        if (message.isEmpty()) {
          sse.sendKeepalive();
          continue;
        }
        String id = Long.toString(number + 1);
        switch (message.get()) {
          case LogRelay.Message.Line(BuildLogEntry line) ->
              sse.send("line", id, TemplateBuildRoutes.json(number, line));
          case LogRelay.Message.Failed(RuntimeException e) -> {
            sse.send("problem", id, Problem.of(e, exchange.requestId()).body());
            if (!(e instanceof SandboxException)) {
              throw e; // to the log of the server
            }
            return;
          }
          case LogRelay.Message.Succeeded() -> {
            sse.send("image", id, ImageRoutes.disclosed(images.get(ImageRoutes.name(exchange))));
            return;
          }
        }
        number++;
      }
    }
  }

  private BuildTask task(Exchange exchange) {
    Map<String, Object> body = exchange.body();
    String name = ImageRoutes.name(exchange);
    boolean replace = replaces(exchange);
    if (body.containsKey("recipe") == body.containsKey("ready")) {
      throw Query.invalid(
          List.of(new Violation("recipe", "or ready is required, and only one of them")));
    }
    if (body.get("ready") instanceof String ready) {
      if (!images.ready().contains(ready)) {
        throw Query.invalid(
            List.of(
                new Violation(
                    "ready",
                    "must be one of " + String.join(", ", new TreeSet<>(images.ready())))));
      }
      return log -> images.buildReady(name, ready, replace, line -> log.accept(entry(line)));
    }
    @SuppressWarnings("unchecked") // the shape has been checked
    Recipe recipe =
        RecipeDocument.fromMap((Map<String, Object>) body.getOrDefault("recipe", Map.of()));
    BuildSettings settings =
        new BuildSettings(
            body.get("provider") instanceof String provider
                ? ProviderNames.canonical(provider)
                : "",
            body.get("network") instanceof String mode
                ? NetworkMode.valueOf(mode.toUpperCase(Locale.ROOT))
                : NetworkMode.NONE);
    ImageBuilds builds = context.engine().templates().imageBuilds();
    builds.check(name, replace, recipe);
    return log -> builds.build(name, replace, recipe, settings, log);
  }

  private static BuildLogEntry entry(String line) {
    return new BuildLogEntry(Instant.now(), Level.INFO, Optional.empty(), line);
  }
}
