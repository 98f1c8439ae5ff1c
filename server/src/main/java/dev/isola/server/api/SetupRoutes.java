package dev.isola.server.api;

import dev.isola.engine.api.ProviderStatus;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.Health;
import dev.isola.spi.provider.Prerequisite;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** Reports the state of the setup of this host, with the next step for each unfinished item. */
final class SetupRoutes {
  /** The result is cached for this long, because checking the host runs programs. */
  private static final Duration CACHE_TIME = Duration.ofSeconds(10);

  private static final Shape STEP =
      new Shape.Obj(
              Field.required(
                  "about",
                  new Shape.Choice(List.of("machine", "tool", "provider")),
                  "kind of the item"),
              Field.required("name", Shapes.WORD, "name of the item").example("bwrap"),
              Field.required("done", Shapes.FLAG, "whether no action is needed"),
              Field.required("detail", Shapes.TEXT, "what was found").example("not installed"),
              Field.required("fix", Shapes.TEXT, "what to do next; empty if no action is needed")
                  .example("apt install bubblewrap"))
          .named("SetupStep");

  private final ServerContext context;
  private final Supplier<List<SetupStep>> machine;
  private final ReentrantLock lock = new ReentrantLock();
  private List<SetupStep> cached = List.of();
  private long cachedAt = System.nanoTime() - CACHE_TIME.toNanos();

  /**
   * @param machine checks the host and its programs; may be slow
   */
  SetupRoutes(ServerContext context, Supplier<List<SetupStep>> machine) {
    this.context = context;
    this.machine = machine;
  }

  List<Route> routes() {
    return List.of(
        Route.of(
                "GET",
                "/api/sandbox/setup",
                "getSetup",
                "Reports the setup of the host, unfinished items first.")
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required("ready", Shapes.FLAG, "whether a provider is usable"),
                            Field.required(
                                    "providers",
                                    new Shape.ListOf(Shapes.WORD, 1000),
                                    "names of usable providers")
                                .example(List.of("subprocess")),
                            Field.required(
                                "steps",
                                new Shape.ListOf(STEP, 10_000),
                                "items, unfinished ones first"))
                        .named("Setup")))
            .handledBy(this::answer));
  }

  private void answer(Exchange exchange) throws IOException {
    List<ProviderStatus> standings = context.components().health().awaitFirstProbes();
    List<SetupStep> steps = new ArrayList<>();
    standings.forEach(standing -> addTo(steps, standing));
    steps.addAll(machine());
    List<SetupStep> ordered = new ArrayList<>(steps.stream().filter(one -> !one.done()).toList());
    steps.stream().filter(SetupStep::done).forEach(ordered::add);
    List<String> working =
        standings.stream()
            .filter(ProviderStatus::usable)
            .map(ProviderStatus::name)
            .sorted()
            .toList();
    exchange.json(
        200,
        Map.of(
            "ready",
            !working.isEmpty(),
            "providers",
            working,
            "steps",
            ordered.stream().map(SetupRoutes::json).toList()));
  }

  private List<SetupStep> machine() {
    lock.lock();
    try {
      if (System.nanoTime() - cachedAt >= CACHE_TIME.toNanos()) {
        cached = List.copyOf(machine.get());
        cachedAt = System.nanoTime();
      }
      return cached;
    } finally {
      lock.unlock();
    }
  }

  private static void addTo(List<SetupStep> steps, ProviderStatus standing) {
    steps.add(
        switch (standing.health()) {
          case Health.Healthy(String detail) ->
              new SetupStep("provider", standing.name(), true, detail, "");
          case Health.Degraded(String reason, String fix) ->
              new SetupStep("provider", standing.name(), false, reason, fix);
          case Health.Unhealthy(String reason, String fix) ->
              new SetupStep("provider", standing.name(), false, reason, fix);
        });
    if (standing.info().isPresent()) {
      for (Prerequisite each : standing.info().get().prerequisites()) {
        if (!each.present()) {
          String optional = each.necessary() ? "" : " (optional)";
          String name = standing.name() + ": " + each.name();
          String detail = each.detail() + optional;
          steps.add(new SetupStep("provider", name, false, detail, each.fix()));
        }
      }
    }
  }

  private static Map<String, Object> json(SetupStep step) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("about", step.about());
    json.put("name", step.name());
    json.put("done", step.done());
    json.put("detail", step.detail());
    json.put("fix", step.fix());
    return json;
  }
}
