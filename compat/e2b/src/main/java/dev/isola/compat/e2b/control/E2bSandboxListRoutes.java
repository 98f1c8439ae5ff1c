package dev.isola.compat.e2b.control;

import dev.isola.compat.e2b.model.E2bLabels;
import dev.isola.compat.e2b.model.E2bRequestBody;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxPage;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Query;
import dev.isola.server.route.Route;
import dev.isola.server.route.Routes;
import dev.isola.server.route.Shape;
import dev.isola.spi.SandboxState;
import dev.isola.spi.spec.Violation;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Routes that list sandboxes, newest first by default. */
public record E2bSandboxListRoutes(ServerContext context, E2bSandboxView view) {
  private static final int MAX_PAGE = 100;
  static final String NEXT_TOKEN_HEADER = "X-Next-Token";

  public List<Route> routes() {
    return List.of(
        E2bSandboxRoutes.route("GET", "/sandboxes", "e2bListFirst", "Lists running sandboxes.")
            .needs(Scope.READ)
            .handledBy(exchange -> list(exchange, EnumSet.of(SandboxState.RUNNING))),
        E2bSandboxRoutes.route("GET", "/v2/sandboxes", "e2bList", "Lists sandboxes.")
            .needs(Scope.READ)
            .takes(
                Parameter.query("limit", new Shape.WholeNumber(1, MAX_PAGE), "page size"),
                Parameter.query(
                    "order", new Shape.Choice(List.of("asc", "desc")), "order by creation time"))
            .handledBy(exchange -> list(exchange, states(exchange))));
  }

  private void list(Exchange exchange, Set<SandboxState> states) throws IOException {
    SandboxListFilter filter =
        SandboxListFilter.ALL
            .pooled(false)
            .states(states.iterator().next(), states.toArray(new SandboxState[0]))
            .newestFirst(!exchange.query("order").orElse("desc").equals("asc"));
    for (List<String> pair : metadata(exchange.query("metadata").orElse(""))) {
      filter = filter.label(pair.getFirst(), pair.getLast());
    }
    if (exchange.query("template").isPresent()) {
      filter = filter.label(E2bLabels.TEMPLATE, exchange.query("template").get());
    }
    if (exchange.query("startedAfter").isPresent()) {
      filter = filter.startedAfter(time(exchange.query("startedAfter").get()));
    }
    int limit = exchange.query("limit").map(Integer::parseInt).orElse(MAX_PAGE);
    SandboxPage page =
        context.sandboxes().list(filter, exchange.query("nextToken").orElse(""), limit);
    page.next().ifPresent(next -> exchange.addHeader(NEXT_TOKEN_HEADER, next));
    exchange.json(
        200,
        page.entries().stream()
            .filter(one -> !E2bLabels.isVolumeHelper(one) && one.damage().isEmpty())
            .map(view::summary)
            .toList());
  }

  private static Set<SandboxState> states(Exchange exchange) {
    Set<SandboxState> states = EnumSet.noneOf(SandboxState.class);
    String requested = String.join(",", exchange.queries("state"));
    for (String word : (requested.isEmpty() ? "running,paused" : requested).split(",", -1)) {
      switch (word) {
        case "running" -> states.add(SandboxState.RUNNING);
        case "paused" -> states.addAll(EnumSet.of(SandboxState.PAUSED, SandboxState.STOPPED));
        default ->
            throw E2bRequestBody.invalidField(
                "state", "must be running, paused or both, separated by a comma");
      }
    }
    return states;
  }

  /**
   * Parses the {@code metadata} parameter: a query string within the query, whose names and values
   * are percent-encoded a second time.
   */
  static List<List<String>> metadata(String text) {
    List<Violation> problems = new ArrayList<>();
    List<List<String>> pairs = new ArrayList<>();
    Query.read(text, problems)
        .forEach(
            (name, values) -> {
              for (String value : values) {
                pairs.add(
                    List.of(
                        Routes.percentDecode(name, true).orElse(name),
                        Routes.percentDecode(value, true).orElse(value)));
              }
            });
    if (!problems.isEmpty()) {
      throw Query.invalid(problems);
    }
    return pairs;
  }

  private static Instant time(String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeException e) {
      throw E2bRequestBody.invalidField(
          "startedAfter", "must be a timestamp such as 2026-01-02T03:04:05Z");
    }
  }
}
