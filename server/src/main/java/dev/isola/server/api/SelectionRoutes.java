package dev.isola.server.api;

import dev.isola.engine.api.PlacementPlan;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.Rejection;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.Selection;
import dev.isola.server.access.KeyPolicy;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.error.Problem;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.OpenApi;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.provider.ProviderInfo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Explains which provider a create request would get, and why the others would not be used. */
record SelectionRoutes(ServerContext context, CreateBody body) {
  private static final int MAX_PROVIDERS = 1000;

  private static final Shape CHOSEN =
      new Shape.Obj(
              Field.required("provider", Shapes.WORD, "name of the provider").example("bubblewrap"),
              Field.required("isolation", Shapes.WORD, "its isolation").example("container"),
              Field.required("warm", Shapes.FLAG, "whether a sandbox of the warm pool is ready"),
              Field.required("reason", Shapes.TEXT, "why it is chosen")
                  .example("it is the only eligible provider"))
          .named("ChosenProvider");

  private static final Shape PROVIDER =
      new Shape.Obj(
              Field.required("name", Shapes.WORD, "name of the provider").example("bubblewrap"),
              Field.optional("type", Shapes.WORD, "its type").example("bubblewrap"),
              Field.optional("isolation", Shapes.WORD, "its isolation, if it is known")
                  .example("container"),
              Field.required("chosen", Shapes.FLAG, "whether the sandbox would be created by it"),
              Field.required(
                  "eligible", Shapes.FLAG, "whether it could create the sandbox, now or next"),
              Field.required(
                      "reasons",
                      new Shape.ListOf(Shapes.TEXT, 100),
                      "why it is not chosen; completes a sentence that starts with its name")
                  .example(List.of()),
              Field.optional("fix", Shapes.TEXT, "how to make it eligible"))
          .named("ConsideredProvider");

  private static final Shape SELECTION =
      new Shape.Obj(
              Field.optional("chosen", CHOSEN, "absent if the request would fail"),
              Field.required(
                  "providers",
                  new Shape.ListOf(PROVIDER, MAX_PROVIDERS),
                  "the eligible ones in the order in which they are tried, then the others"),
              Field.optional(
                  "problem", OpenApi.problem(), "the error that the create request would have"))
          .named("Selection");

  List<Route> routes() {
    return List.of(
        Route.of(
                "POST",
                "/api/v1/selection",
                "selectProvider",
                "Returns which provider a create request with this body would get now, and why the"
                    + " others would not be used. Creates nothing.")
            .needs(Scope.USE)
            .takes(CreateBody.SHAPE)
            .answers(Response.json(200, SELECTION))
            .handledBy(this::select));
  }

  private void select(Exchange exchange) throws IOException {
    SandboxRequest request = body.read(exchange);
    PlacementPlan plan = context.engine().creator().plan(KeyPolicy.apply(exchange, request));
    Map<String, Object> json = new LinkedHashMap<>();
    if (plan.problem().isEmpty()) {
      plan.selection().best().ifPresent(best -> json.put("chosen", chosen(plan, best)));
    }
    json.put("providers", providers(plan));
    plan.problem()
        .map(error -> CreateFailure.of(request.request(), error))
        .ifPresent(error -> json.put("problem", Problem.of(error, exchange.requestId()).body()));
    exchange.json(200, json);
  }

  private static Map<String, Object> chosen(PlacementPlan plan, ProviderInfo best) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("provider", best.name());
    json.put("isolation", JsonViews.wireName(best.isolation()));
    json.put("warm", plan.warm());
    json.put("reason", reason(plan.selection()));
    return json;
  }

  /** Compares the best candidate with the second, because that one is closest to it. */
  private static String reason(Selection selection) {
    if (selection.candidates().size() < 2) {
      return selection.explicit() ? "the request names it" : "it is the only eligible provider";
    }
    String second = selection.candidates().get(1).name();
    return "it "
        + selection.advantages().get(second)
        + "; next is "
        + second
        + (selection.candidates().size() > 2
            ? ", then " + (selection.candidates().size() - 2) + " more"
            : "");
  }

  private List<Map<String, Object>> providers(PlacementPlan plan) {
    Selection selection = plan.selection();
    List<Map<String, Object>> providers = new ArrayList<>();
    for (ProviderInfo candidate : selection.candidates()) {
      boolean chosen = providers.isEmpty() && plan.problem().isEmpty();
      Map<String, Object> json = provider(candidate.name());
      json.put("chosen", chosen);
      json.put("eligible", true);
      String advantage = selection.advantages().get(candidate.name());
      json.put(
          "reasons",
          advantage == null
              ? List.of()
              : List.of("ranks after " + selection.names().getFirst() + ", which " + advantage));
      providers.add(json);
    }
    for (Rejection rejection : selection.rejections()) {
      Map<String, Object> json = provider(rejection.provider());
      json.put("chosen", false);
      json.put("eligible", false);
      json.put("reasons", List.of(rejection.reason()));
      if (!rejection.fix().isEmpty()) {
        json.put("fix", rejection.fix());
      }
      providers.add(json);
    }
    return providers;
  }

  private Map<String, Object> provider(String name) {
    ServerContext.Components parts = context.components();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", name);
    Optional<ProviderInfo> info =
        parts.health().current().stream()
            .filter(one -> one.name().equals(name))
            .findFirst()
            .flatMap(ProviderStatus::info);
    Optional<ProviderInstance> instance =
        Optional.ofNullable(parts.registry().instances().get(name));
    instance.ifPresent(one -> json.put("type", one.type()));
    info.map(ProviderInfo::isolation)
        .or(() -> instance.map(one -> one.profile().isolation()))
        .ifPresent(isolation -> json.put("isolation", JsonViews.wireName(isolation)));
    return json;
  }
}
