package dev.isola.compat.e2b.template;

import dev.isola.compat.e2b.envd.EnvdVersion;
import dev.isola.compat.e2b.model.Body;
import dev.isola.compat.e2b.model.E2bCredentials;
import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.compat.e2b.model.E2bSettings;
import dev.isola.compat.e2b.model.Keep;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Confidential;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.Images;
import dev.isola.server.context.Serving;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Shape;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Templates: named, built, looked at, removed. Who builds one decides what others run. */
public final class TemplateRoutes {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Shape ANY = new Shape.Document(Map.of("type", "object"));

  /** The purpose of the secret that opens the place of an upload. */
  private static final String UPLOAD = "template-upload";

  private final Serving serving;
  private final ApiKeys keys;
  private final Images images;
  private final Templates templates;
  private final TemplateBook book;
  private final Uploads uploads;
  private final Builds builds;

  public TemplateRoutes(
      Serving serving,
      ApiKeys keys,
      Images images,
      Templates templates,
      E2bSettings settings,
      Keep keep) {
    this.serving = serving;
    this.keys = keys;
    this.images = images;
    this.templates = templates;
    book = new TemplateBook(keep.settings());
    uploads = new Uploads(keep.folder().resolve("uploads"));
    builds = new Builds(serving, images, book, uploads, settings.provider(), settings.network());
  }

  public List<Route> routes() {
    return List.of(
        route("POST", "/v3/templates", "e2bTemplate", "Names a template that is to be built.")
            .by(this::named),
        route("POST", "/v2/templates", "e2bTemplateSecond", "Names a template.").by(this::named),
        route("GET", "/templates/{template}/files/{hash}", "e2bUpload", "Tells where files go.")
            .by(this::upload),
        Route.of(
                "PUT",
                "/templates/{template}/upload/{hash}/{secret}",
                "e2bPutUpload",
                "Takes the files of a COPY.")
            .open()
            .of(E2bDialect.CONTROL)
            .takes(new Route.Body.Stream("application/octet-stream"))
            .by(this::put),
        route("POST", "/v2/templates/{template}/builds/{build}", "e2bBuild", "Builds a template.")
            .by(this::build),
        route(
                "GET",
                "/templates/{template}/builds/{build}/status",
                "e2bBuildStatus",
                "Tells how far a build is.")
            .takes(
                Parameter.query("logsOffset", new Shape.Whole(0, Integer.MAX_VALUE), "from where"))
            .by(this::status),
        route("GET", "/templates", "e2bTemplates", "Lists templates.")
            .needs(Scope.READ)
            .by(this::list),
        route("GET", "/templates/aliases/{name}", "e2bAlias", "Finds a template by a name.")
            .needs(Scope.READ)
            .by(this::alias),
        route("GET", "/templates/{template}/tags", "e2bTags", "Lists the tags of a template.")
            .needs(Scope.READ)
            .by(this::tags),
        route("POST", "/templates/tags", "e2bTag", "Gives a template tags.").by(this::tag),
        route("DELETE", "/templates/{template}", "e2bRemove", "Removes a template or snapshot.")
            .needs(Scope.USE)
            .by(this::remove));
  }

  private static Route route(String method, String template, String name, String summary) {
    Route route =
        Route.of(method, template, name, summary).needs(Scope.ADMIN).of(E2bDialect.CONTROL);
    return method.equals("POST") ? route.takes(new Route.Body.Json(ANY, false)) : route;
  }

  private void named(Exchange exchange) throws IOException {
    Body body = new Body(exchange.body());
    String name = body.text("name").or(() -> body.text("alias")).orElse("").strip();
    if (!name.matches("[a-z0-9][a-z0-9._/-]{0,127}(:[A-Za-z0-9._-]{1,64})?")) {
      throw Body.wrong("name", "must be lower-case letters, digits, . _ / and -");
    }
    List<String> tags = body.texts("tags");
    String plain = name.replaceFirst(":.*$", "");
    Set<String> names = new LinkedHashSet<>(List.of(plain));
    if (name.contains(":")) {
      names.add(name);
    }
    tags.forEach(tag -> names.add(plain + ":" + tag));
    Optional<Template> known = book.find(plain);
    known.ifPresent(one -> names.addAll(one.names()));
    Template template =
        new Template(
            known.map(Template::id).orElseGet(() -> SandboxId.random(RANDOM).value()),
            List.copyOf(names),
            known.flatMap(Template::image),
            known.map(Template::env).orElse(Map.of()),
            known.map(Template::user).orElse(Template.USER),
            known.map(Template::folder).orElse(Template.HOME),
            known.flatMap(Template::start),
            known.flatMap(Template::ready),
            body.whole("cpuCount"),
            body.whole("memoryMB"),
            UUID.randomUUID().toString(),
            known.map(Template::createdAt).orElseGet(Instant::now));
    book.put(template);
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("templateID", template.id());
    json.put("buildID", template.build());
    json.put("public", false);
    json.put("names", List.of(plain));
    json.put("tags", tags);
    json.put("aliases", List.of(plain));
    exchange.json(202, json);
  }

  private Template need(Exchange exchange) {
    String name = exchange.path("template");
    return book.find(name).orElseThrow(() -> unknown(name));
  }

  private static SandboxException unknown(String name) {
    return Fault.of(
            ErrorCode.TEMPLATE_NOT_FOUND, "template '" + name + "' not found", "build it first")
        .exception();
  }

  private void upload(Exchange exchange) throws IOException {
    Template template = need(exchange);
    String hash = exchange.path("hash");
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("present", uploads.contains(hash));
    if (!uploads.contains(hash)) {
      json.put(
          "url",
          Confidential.token(
              (exchange.isSecure() ? "https://" : "http://")
                  + exchange.header("Host").orElse("localhost")
                  + "/templates/"
                  + template.id()
                  + "/upload/"
                  + hash
                  + "/"
                  + secret(template, hash).reveal(),
              Scope.ADMIN));
    }
    exchange.json(201, json);
  }

  private Confidential secret(Template template, String hash) {
    return keys.tokens().steady(new SandboxId(template.id()), UPLOAD + " " + hash);
  }

  private void put(Exchange exchange) throws IOException {
    String hash = exchange.path("hash");
    boolean good =
        book.find(exchange.path("template"))
            .filter(one -> isSecret(one, hash, exchange.path("secret")))
            .isPresent();
    if (!good) { // nor is a client without the secret told which templates there are
      throw Fault.of(ErrorCode.UNAUTHENTICATED, "this is no place for uploads", "ask for one")
          .exception();
    }
    exchange.actor(E2bCredentials.UPLOAD_URL_ACTOR);
    uploads.put(hash, exchange.content());
    exchange.json(200, Map.of());
  }

  private boolean isSecret(Template template, String hash, String shown) {
    return keys.tokens().isSteady(new SandboxId(template.id()), UPLOAD + " " + hash, shown);
  }

  private void build(Exchange exchange) throws IOException {
    Template template = need(exchange);
    if (!template.build().equals(exchange.path("build"))) {
      throw Fault.of(ErrorCode.CONFLICT, "a newer build was asked for", "begin once more")
          .exception();
    }
    Body body = new Body(exchange.body());
    List<Step> steps =
        body.objects("steps").stream()
            .map(one -> new Step(one.needed("type"), one.texts("args"), one.text("filesHash")))
            .toList();
    Optional<String> image = body.text("fromImage");
    Template from =
        image.isPresent() ? Template.of("", "") : templates.find(body.needed("fromTemplate"));
    builds.begin(
        template.build(),
        log ->
            new Builds.Plan(
                template,
                image
                    .map(
                        one ->
                            templates.pulled(
                                one, words -> log.line("info", words, Optional.empty())))
                    .orElse(from),
                steps,
                body.text("startCmd").filter(text -> !text.isBlank()),
                body.text("readyCmd").filter(text -> !text.isBlank())));
    exchange.json(202, Map.of());
  }

  private void status(Exchange exchange) throws IOException {
    Template template = need(exchange);
    String build = exchange.path("build");
    int from = exchange.query("logsOffset").map(Integer::parseInt).orElse(0);
    Map<String, Object> told =
        builds
            .log(build)
            .map(log -> log.told(template.id(), build, from))
            .orElseGet(() -> forgotten(template, build));
    exchange.json(200, told);
  }

  private static Map<String, Object> forgotten(Template template, String build) {
    boolean ready = template.image().isPresent() && template.build().equals(build);
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("templateID", template.id());
    json.put("buildID", build);
    json.put("status", ready ? "ready" : "error");
    json.put("logEntries", List.of());
    json.put("logs", List.of());
    if (!ready) {
      json.put(
          "reason",
          Map.of("message", "the server was started anew meanwhile", "logEntries", List.of()));
    }
    return json;
  }

  private void list(Exchange exchange) throws IOException {
    exchange.json(200, book.all().stream().map(TemplateRoutes::json).toList());
  }

  private static Map<String, Object> json(Template template) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("templateID", template.id());
    json.put("buildID", template.build());
    json.put("buildStatus", template.image().isPresent() ? "ready" : "waiting");
    json.put("cpuCount", template.cpus().orElse(1L));
    json.put("memoryMB", template.memoryMb().orElse(1024L));
    json.put("diskSizeMB", 10_240);
    json.put("public", false);
    json.put("aliases", template.names());
    json.put("names", template.names());
    json.put("createdAt", template.createdAt().toString());
    json.put("updatedAt", template.createdAt().toString());
    json.put("spawnCount", 0);
    json.put("buildCount", 1);
    json.put("envdVersion", EnvdVersion.LEAST);
    return json;
  }

  private void alias(Exchange exchange) throws IOException {
    Template found = templates.find(exchange.path("name"));
    exchange.json(200, Map.of("templateID", found.id(), "public", false));
  }

  private void tags(Exchange exchange) throws IOException {
    Template template = need(exchange);
    exchange.json(
        200,
        template.names().stream()
            .filter(name -> name.contains(":"))
            .map(
                name ->
                    Map.of(
                        "tag",
                        name.substring(name.indexOf(':') + 1),
                        "buildID",
                        template.build(),
                        "createdAt",
                        template.createdAt().toString()))
            .toList());
  }

  private void tag(Exchange exchange) throws IOException {
    Body body = new Body(exchange.body());
    String target = body.needed("target").replaceFirst(":.*$", "");
    Template template = book.find(target).orElseThrow(() -> unknown(target));
    Set<String> names = new LinkedHashSet<>(template.names());
    body.texts("tags").forEach(tag -> names.add(target + ":" + tag));
    book.put(template.named(List.copyOf(names)));
    exchange.json(201, Map.of("buildID", template.build(), "tags", body.texts("tags")));
  }

  /** A snapshot is a template to E2B's clients, and removed as one. */
  private void remove(Exchange exchange) throws IOException {
    String name = exchange.path("template");
    Optional<Template> template = book.find(name);
    if (template.isPresent()) {
      if (exchange.key().filter(key -> key.scope().allows(Scope.ADMIN)).isEmpty()) {
        throw Fault.of(
                ErrorCode.FORBIDDEN, "templates are everybody's", "use a key with scope admin")
            .exception();
      }
      template.get().image().ifPresent(images::remove);
      book.remove(template.get());
    } else {
      serving.engine().snapshots().remove(name);
    }
    exchange.empty();
  }
}
