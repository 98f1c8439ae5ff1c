package dev.isola.server.api;

import dev.isola.document.RecipeDocument;
import dev.isola.engine.api.BuildSettings;
import dev.isola.engine.api.ProviderNames;
import dev.isola.engine.api.TemplateView;
import dev.isola.engine.api.template.TemplateService;
import dev.isola.server.auth.Confidential;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.DocumentShape;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.NetworkMode;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Routes that build, list and remove templates. A build determines what runs in the sandboxes of
 * other clients, so it requires the scope admin.
 */
record TemplateRoutes(ServerContext context) {
  static final String TEMPLATE = "/api/v1/templates";

  static final Parameter NAME =
      Parameter.path("name", new Shape.NonEmptyText(128), "template name or id");

  private static final int MAX_LISTED = 100_000;
  private static final List<String> NETWORKS =
      Stream.of(NetworkMode.BRIDGE, NetworkMode.HOST).map(JsonViews::wireName).toList();

  private static final Shape.Obj SHAPE =
      new Shape.Obj(
              Field.required("id", Shapes.WORD, "template id; never reused").example("t1"),
              Field.required("name", Shapes.WORD, "name for create requests").example("tools"),
              Field.required(
                      "names", new Shape.ListOf(Shapes.WORD, 1000), "all names, including tags")
                  .example(List.of("tools")),
              Field.optional("image", Shapes.WORD, "image; absent until a build has succeeded"),
              Field.required(
                  "env", Shapes.TEXTS, "environment of its sandboxes; *** below scope use"),
              Field.optional("user", Shapes.WORD, "default user of commands"),
              Field.optional("cwd", Shapes.PATH, "default working directory of commands"),
              Field.optional(
                  "start", Shapes.TEXT, "command that runs in the background; *** below scope use"),
              Field.optional(
                  "ready",
                  Shapes.TEXT,
                  "command that succeeds once start is ready; *** below scope use"),
              Field.optional("cpu", Shapes.COUNT, "CPU cores of its sandboxes"),
              Field.optional("memoryMb", Shapes.COUNT, "memory of its sandboxes in MB"),
              Field.required("build", Shapes.WORD, "id of the newest build").example("b1"),
              Field.required("createdAt", Shapes.TIME, "creation time"),
              Field.required("updatedAt", Shapes.TIME, "time of the last change"))
          .named("Template");

  private static final Shape.Obj BUILD =
      new Shape.Obj(
          Field.required("recipe", new DocumentShape(RecipeShapes.RECIPE), "build recipe")
              .example(Map.of("base", "python", "packages", List.of("git"))),
          Field.optional("provider", Shapes.WORD, "provider that runs the build"),
          Field.optional(
              "network",
              new Shape.Choice(NETWORKS),
              "network of the steps; default: the provider's default"));

  List<Route> routes() {
    return List.of(
        Route.of("GET", TEMPLATE, "listTemplates", "Lists templates, by name.")
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required(
                                "templates", new Shape.ListOf(SHAPE, MAX_LISTED), "the templates"))
                        .named("TemplateList")))
            .handledBy(
                exchange ->
                    exchange.json(
                        200,
                        Map.of(
                            "templates",
                            templates().list().stream().map(TemplateRoutes::json).toList()))),
        Route.of("GET", TEMPLATE + "/{name}", "getTemplate", "Describes a template.")
            .takes(NAME)
            .answers(Response.json(200, SHAPE))
            .handledBy(exchange -> exchange.json(200, json(template(context, exchange)))),
        Route.of(
                "DELETE",
                TEMPLATE + "/{name}",
                "removeTemplate",
                "Removes a template with its image and builds; fails while a sandbox uses it.")
            .needs(Scope.ADMIN)
            .takes(NAME)
            .handledBy(
                exchange -> {
                  templates().remove(template(context, exchange).id());
                  exchange.noContent();
                }),
        Route.of(
                "POST",
                TEMPLATE + "/{name}/builds",
                "buildTemplate",
                "Starts a build. A missing template is created; an existing one keeps its image"
                    + " until the build has succeeded.")
            .needs(Scope.ADMIN)
            .takes(NAME)
            .takes(new Body.Json(BUILD, true))
            .answers(Response.json(202, TemplateBuildRoutes.SHAPE))
            .handledBy(this::build));
  }

  private TemplateService templates() {
    return context.engine().templates();
  }

  static TemplateView template(ServerContext context, Exchange exchange) {
    String name = exchange.path("name");
    return context
        .engine()
        .templates()
        .find(name)
        .orElseThrow(
            () ->
                Fault.of(
                        ErrorCode.TEMPLATE_NOT_FOUND,
                        "template does not exist: " + name,
                        "list the templates")
                    .exception());
  }

  private void build(Exchange exchange) throws IOException {
    @SuppressWarnings("unchecked") // the shape has been checked
    Map<String, Object> recipe =
        (Map<String, Object>) exchange.body().getOrDefault("recipe", Map.of());
    BuildSettings settings =
        new BuildSettings(
            exchange.body().get("provider") instanceof String provider
                ? ProviderNames.canonical(provider)
                : "",
            exchange.body().get("network") instanceof String mode
                ? NetworkMode.valueOf(mode.toUpperCase(Locale.ROOT))
                : NetworkMode.NONE);
    exchange.json(
        202,
        TemplateBuildRoutes.json(
            templates().build(exchange.path("name"), RecipeDocument.fromMap(recipe), settings)));
  }

  /**
   * Describes a template. Variables and commands often contain secrets of the operator, so they
   * require the scope use.
   */
  private static Map<String, Object> json(TemplateView template) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", template.id());
    json.put("name", template.name());
    json.put("names", template.names());
    template.image().ifPresent(image -> json.put("image", image));
    Map<String, Object> env = new LinkedHashMap<>();
    template.env().forEach((name, value) -> env.put(name, Confidential.content(value, Scope.USE)));
    json.put("env", env);
    if (!template.user().isEmpty()) {
      json.put("user", template.user());
    }
    if (!template.cwd().isEmpty()) {
      json.put("cwd", template.cwd());
    }
    template.start().ifPresent(text -> json.put("start", Confidential.content(text, Scope.USE)));
    template.ready().ifPresent(text -> json.put("ready", Confidential.content(text, Scope.USE)));
    template.cpus().ifPresent(cores -> json.put("cpu", cores));
    template.memoryMb().ifPresent(size -> json.put("memoryMb", size));
    json.put("build", template.build());
    json.put("createdAt", template.createdAt().toString());
    json.put("updatedAt", template.updatedAt().toString());
    return json;
  }
}
