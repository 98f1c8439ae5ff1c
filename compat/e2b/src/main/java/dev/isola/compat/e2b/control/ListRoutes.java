package dev.isola.compat.e2b.control;

import dev.isola.compat.e2b.model.Body;
import dev.isola.compat.e2b.model.Marks;
import dev.isola.engine.api.Page;
import dev.isola.engine.api.SandboxFilter;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.Serving;
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

/** Lists of sandboxes, newest first. */
public record ListRoutes(Serving serving, Described described) {
  private static final int PAGE = 100;
  static final String NEXT = "X-Next-Token";

  public List<Route> routes() {
    return List.of(
        ControlRoutes.route("GET", "/sandboxes", "e2bListFirst", "Lists running sandboxes.")
            .needs(Scope.READ)
            .by(exchange -> list(exchange, EnumSet.of(SandboxState.RUNNING))),
        ControlRoutes.route("GET", "/v2/sandboxes", "e2bList", "Lists sandboxes.")
            .needs(Scope.READ)
            .takes(
                Parameter.query("limit", new Shape.Whole(1, PAGE), "of a page"),
                Parameter.query("order", new Shape.Choice(List.of("asc", "desc")), "by time"))
            .by(exchange -> list(exchange, states(exchange))));
  }

  private void list(Exchange exchange, Set<SandboxState> states) throws IOException {
    SandboxFilter filter =
        SandboxFilter.ALL
            .pooled(false)
            .states(states.iterator().next(), states.toArray(new SandboxState[0]))
            .newestFirst(!exchange.query("order").orElse("desc").equals("asc"));
    for (List<String> pair : metadata(exchange.query("metadata").orElse(""))) {
      filter = filter.label(pair.getFirst(), pair.getLast());
    }
    if (exchange.query("template").isPresent()) {
      filter = filter.label(Marks.TEMPLATE, exchange.query("template").get());
    }
    if (exchange.query("startedAfter").isPresent()) {
      filter = filter.startedAfter(time(exchange.query("startedAfter").get()));
    }
    int limit = exchange.query("limit").map(Integer::parseInt).orElse(PAGE);
    Page page = serving.engine().list(filter, exchange.query("nextToken").orElse(""), limit);
    page.next().ifPresent(next -> exchange.adding(NEXT, next));
    exchange.json(
        200,
        page.entries().stream()
            .filter(one -> !Marks.isOurOwn(one) && one.damage().isEmpty())
            .map(described::listed)
            .toList());
  }

  private static Set<SandboxState> states(Exchange exchange) {
    Set<SandboxState> states = EnumSet.noneOf(SandboxState.class);
    String asked = String.join(",", exchange.queries("state"));
    for (String word : (asked.isEmpty() ? "running,paused" : asked).split(",", -1)) {
      switch (word) {
        case "running" -> states.add(SandboxState.RUNNING);
        case "paused" -> states.addAll(EnumSet.of(SandboxState.PAUSED, SandboxState.STOPPED));
        default -> throw Body.wrong("state", "must be running or paused, or both with a comma");
      }
    }
    return states;
  }

  /** A query within the query, whose names and values are encoded once more. */
  static List<List<String>> metadata(String text) {
    List<Violation> problems = new ArrayList<>();
    List<List<String>> pairs = new ArrayList<>();
    Query.read(text, problems)
        .forEach(
            (name, values) -> {
              for (String value : values) {
                pairs.add(
                    List.of(
                        Routes.decoded(name, true).orElse(name),
                        Routes.decoded(value, true).orElse(value)));
              }
            });
    if (!problems.isEmpty()) {
      throw Query.refused(problems);
    }
    return pairs;
  }

  private static Instant time(String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeException e) {
      throw Body.wrong("startedAfter", "must be a time such as 2026-01-02T03:04:05Z");
    }
  }
}
