package dev.isola.compat.e2b.template;

import dev.isola.compat.e2b.envd.EnvdVersion;
import dev.isola.compat.e2b.model.E2bCredentials;
import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.compat.e2b.model.E2bRequestBody;
import dev.isola.compat.e2b.model.E2bSettings;
import dev.isola.document.recipe.Recipe;
import dev.isola.engine.api.BuildSettings;
import dev.isola.engine.api.BuildView;
import dev.isola.engine.api.TemplateView;
import dev.isola.engine.api.template.TemplateService;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Confidential;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ImageService;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.AnyObjectShape;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Shape;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Routes that declare, build, describe and remove templates. They require the scope admin, because
 * a template determines what runs in the sandboxes of other clients.
 */
public final class E2bTemplateRoutes {
  private static final Shape ANY = new AnyObjectShape();

  /** Purpose of the secret in an upload URL. */
  private static final String UPLOAD = "template-upload";

  /** Name prefix of E2B's own base images. */
  private static final String E2B_BASE = "e2bdev/base";

  private final ServerContext context;
  private final ApiKeys keys;
  private final E2bTemplates templates;
  private final E2bSettings settings;

  public E2bTemplateRoutes(
      ServerContext context, ApiKeys keys, E2bTemplates templates, E2bSettings settings) {
    this.context = context;
    this.keys = keys;
    this.templates = templates;
    this.settings = settings;
  }

  private TemplateService engine() {
    return context.engine().templates();
  }

  public List<Route> routes() {
    return List.of(
        route("POST", "/v3/templates", "e2bTemplate", "Declares a template before its build.")
            .handledBy(this::declare),
        route("POST", "/v2/templates", "e2bTemplateSecond", "Declares a template.")
            .handledBy(this::declare),
        route(
                "GET",
                "/templates/{template}/files/{hash}",
                "e2bUpload",
                "Returns the upload URL for files.")
            .handledBy(this::upload),
        Route.of(
                "PUT",
                "/templates/{template}/upload/{hash}/{secret}",
                "e2bPutUpload",
                "Uploads the files of a COPY instruction.")
            .withoutKey()
            .of(E2bDialect.CONTROL)
            .takes(new Route.Body.Stream("application/octet-stream"))
            .handledBy(this::put),
        route("POST", "/v2/templates/{template}/builds/{build}", "e2bBuild", "Builds a template.")
            .handledBy(this::build),
        route(
                "GET",
                "/templates/{template}/builds/{build}/status",
                "e2bBuildStatus",
                "Returns the status of a build.")
            .takes(
                Parameter.query(
                    "logsOffset",
                    new Shape.WholeNumber(0, Integer.MAX_VALUE),
                    "number of log lines to skip"))
            .handledBy(this::status),
        route("GET", "/templates", "e2bTemplates", "Lists templates.")
            .needs(Scope.READ)
            .handledBy(this::list),
        route("GET", "/templates/aliases/{name}", "e2bAlias", "Finds a template by name.")
            .needs(Scope.READ)
            .handledBy(this::alias),
        route("DELETE", "/templates/{template}", "e2bRemove", "Removes a template or a snapshot.")
            .needs(Scope.USE)
            .handledBy(this::remove));
  }

  private static Route route(String method, String template, String name, String summary) {
    Route route =
        Route.of(method, template, name, summary).needs(Scope.ADMIN).of(E2bDialect.CONTROL);
    return method.equals("POST") ? route.takes(new Route.Body.Json(ANY, false)) : route;
  }

  private void declare(Exchange exchange) throws IOException {
    E2bRequestBody body = new E2bRequestBody(exchange.body());
    String name = body.text("name").or(() -> body.text("alias")).orElse("").strip();
    List<String> tags = new ArrayList<>(body.texts("tags"));
    TemplateView template =
        engine().declare(name, tags, body.wholeNumber("cpuCount"), body.wholeNumber("memoryMB"));
    int colon = name.indexOf(':');
    List<String> plain = List.of(colon < 0 ? name : name.substring(0, colon));
    if (colon >= 0 && !tags.contains(name.substring(colon + 1))) {
      tags.addFirst(name.substring(colon + 1));
    }
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("templateID", template.id());
    json.put("buildID", template.build());
    json.put("public", false);
    json.put("names", plain);
    json.put("tags", tags);
    json.put("aliases", plain);
    exchange.json(202, json);
  }

  private TemplateView require(Exchange exchange) {
    return require(exchange.path("template"));
  }

  private TemplateView require(String name) {
    return engine().find(name).orElseThrow(() -> unknown(name));
  }

  static SandboxException unknown(String name) {
    return Fault.of(
            ErrorCode.TEMPLATE_NOT_FOUND,
            "template '" + name + "' not found",
            "build the template first")
        .exception();
  }

  private void upload(Exchange exchange) throws IOException {
    TemplateView template = require(exchange);
    String hash = exchange.path("hash");
    Map<String, Object> json = new LinkedHashMap<>();
    boolean present = engine().findArchive(hash).isPresent();
    json.put("present", present);
    if (!present) {
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

  private Confidential secret(TemplateView template, String hash) {
    return keys.tokens().stableToken(new SandboxId(template.id()), UPLOAD + " " + hash);
  }

  private void put(Exchange exchange) throws IOException {
    String hash = exchange.path("hash");
    boolean valid =
        engine()
            .find(exchange.path("template"))
            .filter(one -> isSecret(one, hash, exchange.path("secret")))
            .isPresent();
    if (!valid) { // the error does not disclose whether the template exists
      throw Fault.of(
              ErrorCode.UNAUTHENTICATED, "the upload URL is invalid", "request a new upload URL")
          .exception();
    }
    exchange.setActor(E2bCredentials.UPLOAD_URL_ACTOR);
    String _ = engine().uploadAs(hash, exchange.content());
    exchange.json(200, Map.of());
  }

  private boolean isSecret(TemplateView template, String hash, String presented) {
    return keys.tokens()
        .isStableToken(new SandboxId(template.id()), UPLOAD + " " + hash, presented);
  }

  private void build(Exchange exchange) throws IOException {
    TemplateView template = require(exchange);
    E2bRequestBody body = new E2bRequestBody(exchange.body());
    BuildInstructions instructions = new BuildInstructions(engine()::findArchive);
    Recipe recipe =
        new Recipe(
            base(body),
            body.objects("steps").stream().map(instructions::step).toList(),
            body.text("startCmd").filter(text -> !text.isBlank()),
            body.text("readyCmd").filter(text -> !text.isBlank()),
            template.cpus(),
            template.memoryMb());
    BuildView _ =
        engine()
            .startBuild(
                template.id(),
                exchange.path("build"),
                recipe,
                new BuildSettings(settings.provider(), settings.network()));
    exchange.json(202, Map.of());
  }

  private Recipe.Base base(E2bRequestBody body) {
    Optional<String> image = body.text("fromImage");
    E2bTemplate from =
        image
            .map(name -> name.startsWith(E2B_BASE) ? ImageService.BASE : name)
            .map(name -> E2bTemplate.of(name, name))
            .orElseGet(() -> templates.find(body.required("fromTemplate")));
    Recipe.Defaults defaults =
        new Recipe.Defaults(from.env(), from.user(), from.folder(), from.start(), from.ready());
    return from.image()
        .<Recipe.Base>map(name -> new Recipe.Base.Image(name, defaults, hasDefaultUser(from)))
        .orElseGet(() -> new Recipe.Base.Host(defaults));
  }

  /** Returns whether the commands of a template run as the user that every E2B template has. */
  private static boolean hasDefaultUser(E2bTemplate template) {
    return template.user().equals(E2bTemplate.USER) && template.folder().equals(E2bTemplate.HOME);
  }

  private void status(Exchange exchange) throws IOException {
    TemplateView template = require(exchange);
    String build = exchange.path("build");
    int from = exchange.query("logsOffset").map(Integer::parseInt).orElse(0);
    exchange.json(
        200,
        engine()
            .findBuild(template.id(), build)
            .map(
                found ->
                    BuildStatus.of(
                        found, engine().log(template.id(), build, from, BuildStatus.PAGE).lines()))
            .orElseGet(() -> BuildStatus.unknown(template, build)));
  }

  private void list(Exchange exchange) throws IOException {
    String envdVersion = EnvdVersion.of(context, settings.provider());
    exchange.json(
        200,
        engine().list().stream()
            .map(
                template ->
                    E2bTemplateView.of(
                        template, engine().findBuild(template.id(), template.build()), envdVersion))
            .toList());
  }

  private void alias(Exchange exchange) throws IOException {
    E2bTemplate found = templates.find(exchange.path("name"));
    exchange.json(200, Map.of("templateID", found.id(), "public", false));
  }

  /** Removes a template or a snapshot. E2B's clients treat snapshots as templates. */
  private void remove(Exchange exchange) throws IOException {
    String name = exchange.path("template");
    Optional<TemplateView> template = engine().find(name);
    if (template.isPresent()) {
      if (exchange.key().filter(key -> key.scope().allows(Scope.ADMIN)).isEmpty()) {
        throw Fault.of(
                ErrorCode.FORBIDDEN,
                "removing a template requires the scope admin",
                "use a key with scope admin")
            .exception();
      }
      engine().remove(template.get().id());
    } else {
      context.engine().snapshots().remove(name);
    }
    exchange.noContent();
  }
}
