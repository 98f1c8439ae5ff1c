package dev.isola.compat.e2b.template;

import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.compat.e2b.model.E2bRequestBody;
import dev.isola.engine.api.BuildView;
import dev.isola.engine.api.TemplateView;
import dev.isola.engine.api.template.TemplateService;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.AnyObjectShape;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Routes that list, add and remove the tags of templates. Every tag means the last build. */
public record E2bTagRoutes(ServerContext context) {
  private static final Route.Body BODY = new Route.Body.Json(new AnyObjectShape(), false);

  public List<Route> routes() {
    return List.of(
        route("GET", "/templates/{template}/tags", "e2bTags", "Lists the tags of a template.")
            .needs(Scope.READ)
            .handledBy(this::list),
        route("POST", "/templates/tags", "e2bTag", "Adds tags to a template.")
            .takes(BODY)
            .handledBy(this::add),
        route("DELETE", "/templates/tags", "e2bUntag", "Removes tags of a template.")
            .takes(BODY)
            .handledBy(this::remove));
  }

  private static Route route(String method, String path, String name, String summary) {
    return Route.of(method, path, name, summary).needs(Scope.ADMIN).of(E2bDialect.CONTROL);
  }

  private TemplateService engine() {
    return context.engine().templates();
  }

  private void list(Exchange exchange) throws IOException {
    String name = exchange.path("template");
    TemplateView template = engine().find(name).orElseThrow(() -> E2bTemplateRoutes.unknown(name));
    String build = currentBuild(template);
    exchange.json(
        200,
        template.names().stream()
            .filter(one -> one.contains(":"))
            .map(
                one ->
                    Map.of(
                        "tag",
                        one.substring(one.indexOf(':') + 1),
                        "buildID",
                        build,
                        "createdAt",
                        template.createdAt().toString()))
            .toList());
  }

  private void add(Exchange exchange) throws IOException {
    E2bRequestBody body = new E2bRequestBody(exchange.body());
    List<String> tags = tags(body);
    TemplateView template = engine().tag(body.required("target"), tags);
    exchange.json(201, Map.of("buildID", currentBuild(template), "tags", tags));
  }

  private void remove(Exchange exchange) throws IOException {
    E2bRequestBody body = new E2bRequestBody(exchange.body());
    engine().untag(body.required("name"), tags(body));
    exchange.noContent();
  }

  private static List<String> tags(E2bRequestBody body) {
    List<String> tags = body.texts("tags");
    if (tags.isEmpty()) {
      throw E2bRequestBody.invalidField("tags", "must contain at least one tag");
    }
    return tags;
  }

  /** Returns the last build that succeeded. */
  private String currentBuild(TemplateView template) {
    return engine().builds(template.id()).stream()
        .filter(build -> build.state() == BuildView.State.READY)
        .map(BuildView::id)
        .findFirst()
        .orElse(template.build());
  }
}
