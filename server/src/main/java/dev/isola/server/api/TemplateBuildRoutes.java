package dev.isola.server.api;

import dev.isola.engine.api.BuildLogEntry;
import dev.isola.engine.api.BuildLogPage;
import dev.isola.engine.api.BuildView;
import dev.isola.engine.api.template.TemplateService;
import dev.isola.server.auth.Confidential;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.error.Problem;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.MatchingText;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Routes for template builds, their logs and the archives that steps copy from. Logs contain the
 * output of the operator's commands, so they require the scope admin.
 */
record TemplateBuildRoutes(ServerContext context) {
  private static final String BUILDS = TemplateRoutes.TEMPLATE + "/{name}/builds";
  private static final String UPLOAD = TemplateRoutes.TEMPLATE + "/uploads/{digest}";
  private static final Duration POLL_INTERVAL = Duration.ofMillis(500);
  private static final int PAGE = 100;
  private static final int MAX_BUILDS = 10_000;
  static final Shape SHA256 =
      new MatchingText(
          "^[0-9a-f]{64}$",
          64,
          "must be 64 lower-case hexadecimal digits",
          "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");

  private static final Parameter BUILD =
      Parameter.path("build", new Shape.NonEmptyText(64), "build id");
  private static final Parameter DIGEST =
      Parameter.path("digest", SHA256, "SHA-256 of the archive, in hexadecimal");

  static final Shape.Obj SHAPE =
      new Shape.Obj(
              Field.required("id", Shapes.WORD, "build id").example("b1"),
              Field.required("template", Shapes.WORD, "template id").example("t1"),
              Field.required(
                  "state",
                  new Shape.Choice(
                      "TemplateBuildState",
                      Stream.of(BuildView.State.values()).map(JsonViews::wireName).toList()),
                  "state of the build"),
              Field.optional("reason", Shapes.TEXT, "why the build failed; *** below scope admin"),
              Field.optional(
                  "failedStep", Shapes.COUNT, "number of the failed step, starting at 1"),
              Field.required("createdAt", Shapes.TIME, "creation time"),
              Field.required("updatedAt", Shapes.TIME, "time of the last state change"))
          .named("TemplateBuild");

  List<Route> routes() {
    return List.of(
        Route.of(
                "GET",
                BUILDS,
                "listTemplateBuilds",
                "Lists the builds of a template, newest first.")
            .takes(TemplateRoutes.NAME)
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required(
                                "builds", new Shape.ListOf(SHAPE, MAX_BUILDS), "the stored builds"))
                        .named("TemplateBuildList")))
            .handledBy(
                exchange ->
                    exchange.json(
                        200,
                        Map.of(
                            "builds",
                            templates().builds(template(exchange)).stream()
                                .map(TemplateBuildRoutes::json)
                                .toList()))),
        Route.of("GET", BUILDS + "/{build}", "getTemplateBuild", "Describes a build.")
            .takes(TemplateRoutes.NAME, BUILD)
            .answers(Response.json(200, SHAPE))
            .handledBy(
                exchange ->
                    exchange.json(
                        200, json(templates().build(template(exchange), build(exchange))))),
        Route.of(
                "GET",
                BUILDS + "/{build}/log",
                "followTemplateBuild",
                "Streams the log of a build as events line, then result or error. The id of an"
                    + " event is the offset to resume from.")
            .needs(Scope.ADMIN)
            .takes(
                TemplateRoutes.NAME,
                BUILD,
                Parameter.query("offset", Shapes.COUNT, "number of lines to skip; default 0"),
                Parameter.header("Last-Event-ID", Shapes.COUNT, "alternative to offset"))
            .answers(Response.of("text/event-stream", "lines, then the result"))
            .handledBy(this::follow),
        Route.of(
                "GET", UPLOAD, "getTemplateUpload", "Returns whether an archive has been uploaded.")
            .needs(Scope.ADMIN)
            .takes(DIGEST)
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required("sha256", SHA256, "the requested digest"),
                            Field.required("uploaded", Shapes.FLAG, "whether the archive exists"))
                        .named("TemplateUpload")))
            .handledBy(
                exchange ->
                    exchange.json(
                        200,
                        Map.of(
                            "sha256",
                            digest(exchange),
                            "uploaded",
                            templates().hasArchive(digest(exchange))))),
        Route.of(
                "PUT",
                UPLOAD,
                "uploadTemplateArchive",
                "Uploads a tar archive (plain or gzip) that steps copy from. The archive is stored"
                    + " only if its SHA-256 matches the path.")
            .needs(Scope.ADMIN)
            .takes(DIGEST)
            .takes(new Body.Stream("application/x-tar"))
            .handledBy(
                exchange -> {
                  templates().upload(digest(exchange), exchange.content());
                  exchange.noContent();
                }));
  }

  private TemplateService templates() {
    return context.engine().templates();
  }

  private String template(Exchange exchange) {
    return TemplateRoutes.template(context, exchange).id();
  }

  private static String build(Exchange exchange) {
    return exchange.path("build");
  }

  private static String digest(Exchange exchange) {
    return exchange.path("digest");
  }

  private void follow(Exchange exchange) throws IOException {
    String template = template(exchange);
    String build = build(exchange);
    templates().build(template, build); // an unknown build is an error response, not a stream
    long offset =
        exchange
            .header("Last-Event-ID")
            .or(() -> exchange.query("offset"))
            .map(Long::parseLong)
            .orElse(0L);
    try (SseResponse sse = SseResponse.begin(exchange)) {
      try {
        follow(exchange, sse, template, build, offset);
      } catch (SandboxException e) {
        sse.send("error", Long.toString(offset), Problem.of(e, exchange.requestId()).body());
      }
    }
  }

  private void follow(Exchange exchange, SseResponse sse, String template, String build, long from)
      throws IOException {
    long offset = from;
    long lastSent = System.nanoTime();
    while (!exchange.isShuttingDown()) {
      BuildLogPage page = templates().log(template, build, offset, PAGE);
      long number = page.next() - page.lines().size();
      for (BuildLogEntry line : page.lines()) {
        sse.send("line", Long.toString(number + 1), json(number, line));
        number++;
        lastSent = System.nanoTime();
      }
      offset = page.next();
      if (page.last()) {
        sse.send("result", Long.toString(offset), disclosed(templates().build(template, build)));
        return;
      }
      if (System.nanoTime() - lastSent > SseResponse.KEEPALIVE_INTERVAL.toNanos()) {
        sse.sendKeepalive();
        lastSent = System.nanoTime();
      }
      if (page.lines().isEmpty()) {
        templates().awaitLog(template, build, offset, POLL_INTERVAL);
      }
    }
  }

  static Map<String, Object> json(long number, BuildLogEntry line) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("number", number);
    json.put("at", line.at().toString());
    json.put("level", JsonViews.wireName(line.level()));
    line.step().ifPresent(step -> json.put("step", step));
    json.put("message", line.message());
    return json;
  }

  static Map<String, Object> json(BuildView build) {
    Map<String, Object> json = disclosed(build);
    json.computeIfPresent("reason", (field, text) -> Confidential.content(text, Scope.ADMIN));
    return json;
  }

  /** Describes a build to a client with the scope admin. */
  private static Map<String, Object> disclosed(BuildView build) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", build.id());
    json.put("template", build.template());
    json.put("state", JsonViews.wireName(build.state()));
    if (!build.reason().isEmpty()) {
      json.put("reason", build.reason());
    }
    build.failedStep().ifPresent(step -> json.put("failedStep", step));
    json.put("createdAt", build.createdAt().toString());
    json.put("updatedAt", build.updatedAt().toString());
    return json;
  }
}
