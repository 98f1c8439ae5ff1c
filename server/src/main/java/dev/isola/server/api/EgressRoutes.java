package dev.isola.server.api;

import dev.isola.document.EgressDocument;
import dev.isola.egress.ConnectionView;
import dev.isola.egress.Denial;
import dev.isola.engine.api.EgressReport;
import dev.isola.server.access.KeyPolicy;
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
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.EgressRule;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Routes that show and change which other hosts a sandbox reaches. A sandbox token does not change
 * them: it is made for code that works with the sandbox, and may be inside it.
 */
record EgressRoutes(ServerContext context) {
  private static final String TEMPLATE = "/api/v1/sandboxes/{id}/egress";

  List<Route> routes() {
    return List.of(
        Route.of(
                "GET",
                TEMPLATE,
                "getEgress",
                "Returns the egress rules of a sandbox in network mode filtered, and its traffic.")
            .needs(Scope.USE)
            .takes(Shapes.ID)
            .answers(Response.json(200, EgressShapes.REPORT))
            .handledBy(
                exchange -> answer(exchange, context.engine().egress().report(exchange.sandbox()))),
        Route.of(
                "PUT",
                TEMPLATE,
                "setEgress",
                "Replaces the egress settings of a sandbox, and its allowDomains and blockDomains."
                    + " New connections follow them at once.")
            .needs(Scope.USE)
            .takes(
                Shapes.ID,
                Parameter.query(
                    "closeExisting",
                    Shapes.FLAG,
                    "whether open connections end that the new settings deny; default false"))
            .takes(new Body.Json(new DocumentShape(EgressShapes.REQUEST), true))
            .answers(Response.json(200, EgressShapes.REPORT))
            .handledBy(this::replace),
        Route.of(
                "POST",
                TEMPLATE + "/allow",
                "addEgressRule",
                "Adds one rule, such as the remedy that a denial names. It replaces a rule for the"
                    + " same destination and ports.")
            .needs(Scope.USE)
            .takes(Shapes.ID)
            .takes(new Body.Json(new DocumentShape(EgressShapes.RULE), true))
            .answers(Response.json(200, EgressShapes.REPORT))
            .handledBy(this::add),
        Route.of(
                "GET",
                "/api/v1/egress/presets",
                "listEgressPresets",
                "Lists the presets that egress settings can name.")
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required(
                                "presets",
                                new Shape.MapOf(new Shape.ListOf(EgressShapes.RULE, 100_000)),
                                "rules by preset"))
                        .named("EgressPresets")))
            .handledBy(this::presets));
  }

  private void replace(Exchange exchange) throws IOException {
    Egress egress = EgressDocument.fromMap(exchange.body());
    boolean close = exchange.query("closeExisting").map(Boolean::parseBoolean).orElse(false);
    answer(
        exchange,
        context
            .engine()
            .egress()
            .replace(exchange.sandbox(), egress, close, KeyPolicy.keyName(exchange)));
  }

  private void add(Exchange exchange) throws IOException {
    EgressRule rule = EgressDocument.ruleFromMap(exchange.body());
    answer(
        exchange,
        context.engine().egress().add(exchange.sandbox(), rule, KeyPolicy.keyName(exchange)));
  }

  private void presets(Exchange exchange) throws IOException {
    Map<String, Object> presets = new LinkedHashMap<>();
    context
        .engine()
        .egress()
        .presets()
        .forEach(
            (name, rules) -> presets.put(name, rules.stream().map(EgressDocument::write).toList()));
    exchange.json(200, Map.of("presets", presets));
  }

  private static void answer(Exchange exchange, EgressReport report) throws IOException {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("settings", EgressDocument.write(report.egress()));
    json.put("rules", report.rules().stream().map(EgressDocument::write).toList());
    json.put("default", JsonViews.wireName(report.fallback()));
    json.put("everyPort", report.everyPort());
    json.put("totalConnections", report.totals().connections());
    json.put("totalDenials", report.totals().denials());
    json.put("sentBytes", report.totals().sentBytes());
    json.put("receivedBytes", report.totals().receivedBytes());
    json.put("connections", report.connections().stream().map(EgressRoutes::json).toList());
    json.put(
        "recentConnections", report.recentConnections().stream().map(EgressRoutes::json).toList());
    json.put("recentDenials", report.recentDenials().stream().map(EgressRoutes::json).toList());
    exchange.json(200, json);
  }

  private static Map<String, Object> json(ConnectionView one) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("host", one.host());
    json.put("port", one.port());
    json.put("address", one.address());
    json.put("rule", one.rule());
    json.put("sentBytes", one.sentBytes());
    json.put("receivedBytes", one.receivedBytes());
    json.put("openedAt", one.openedAt().toString());
    one.closedAt().ifPresent(at -> json.put("closedAt", at.toString()));
    return json;
  }

  private static Map<String, Object> json(Denial one) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("at", one.at().toString());
    json.put("denied", one.denied());
    json.put("host", one.host());
    json.put("port", one.port());
    if (!one.request().isEmpty()) {
      json.put("request", one.request());
    }
    json.put("reason", one.reason());
    if (!one.remedy().isEmpty()) {
      json.put("remedy", one.remedy());
    }
    return json;
  }
}
