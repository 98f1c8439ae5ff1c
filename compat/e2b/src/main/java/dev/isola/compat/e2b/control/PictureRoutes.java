package dev.isola.compat.e2b.control;

import dev.isola.compat.e2b.create.TemplateStartup;
import dev.isola.compat.e2b.create.Wanted;
import dev.isola.compat.e2b.model.Body;
import dev.isola.compat.e2b.model.E2bError;
import dev.isola.compat.e2b.model.Marks;
import dev.isola.compat.e2b.template.Templates;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.lifecycle.SpecText;
import dev.isola.engine.snapshot.ForkKind;
import dev.isola.engine.snapshot.Forked;
import dev.isola.engine.snapshot.SnapshotOrder;
import dev.isola.engine.startup.Startup;
import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.Serving;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Shape;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Snapshots and forks. They have files and no memory. */
public record PictureRoutes(Serving serving, Templates templates, Described described) {
  private static final int PAGE = 100;

  public List<Route> routes() {
    return List.of(
        ControlRoutes.one("POST", "/snapshots", "e2bSnapshot", "Takes a snapshot.")
            .by(this::create),
        ControlRoutes.one("POST", "/fork", "e2bFork", "Makes sandboxes with the same files.")
            .by(this::fork),
        ControlRoutes.route("GET", "/snapshots", "e2bSnapshots", "Lists snapshots, newest first.")
            .needs(Scope.READ)
            .takes(
                Parameter.query("limit", new Shape.Whole(1, PAGE), "of a page"),
                Parameter.query("nextToken", new Shape.Whole(0, Integer.MAX_VALUE), "of the last"))
            .by(this::list));
  }

  private void create(Exchange exchange) throws IOException {
    SandboxView entry = Living.of(serving, exchange);
    SandboxId id = entry.id();
    Map<String, String> tags =
        new HashMap<>(Map.of(Marks.SNAPSHOT_TEMPLATE, Marks.template(entry)));
    new Body(exchange.body()).text("name").ifPresent(name -> tags.put(Marks.SNAPSHOT_NAME, name));
    exchange.json(
        201,
        json(
            serving
                .engine()
                .snapshots()
                .create(id, SnapshotOrder.EVERYTHING.withTags(tags))
                .snapshot()));
  }

  private static Map<String, Object> json(Snapshot snapshot) {
    return Map.of(
        "snapshotID",
        snapshot.id(),
        "names",
        Optional.ofNullable(snapshot.tags().get(Marks.SNAPSHOT_NAME)).stream().toList());
  }

  private void list(Exchange exchange) throws IOException {
    Optional<String> sandbox = exchange.query("sandboxID");
    Optional<String> name = exchange.query("name");
    int from = exchange.query("nextToken").map(Integer::parseInt).orElse(0);
    int limit = exchange.query("limit").map(Integer::parseInt).orElse(PAGE);
    List<Snapshot> found =
        serving.engine().snapshots().list().reversed().stream()
            .filter(one -> sandbox.isEmpty() || one.sandbox().equals(sandbox.get()))
            .filter(one -> name.isEmpty() || name.get().equals(one.tags().get(Marks.SNAPSHOT_NAME)))
            .toList();
    int to = Math.min(found.size(), from + limit);
    if (to < found.size()) {
      exchange.adding(ListRoutes.NEXT, Integer.toString(to));
    }
    exchange.json(
        200, found.subList(Math.min(from, to), to).stream().map(PictureRoutes::json).toList());
  }

  private void fork(Exchange exchange) throws IOException {
    SandboxView source = Living.of(serving, exchange);
    Body body = new Body(exchange.body());
    Duration time = Wanted.seconds(body, "timeout", 300);
    int count = Math.toIntExact(Math.clamp(body.whole("count").orElse(1L), 0, Integer.MAX_VALUE));
    Startup startup =
        TemplateStartup.of(templates.of(source), SpecText.read(source.spec(), source.id()).spec());
    exchange.json(
        201,
        serving
            .engine()
            .fork(
                source.id(), count, ForkKind.FILESYSTEM, HostAccessGuard.grants(exchange), startup)
            .stream()
            .map(fork -> told(exchange, fork, time))
            .toList());
  }

  private Map<String, Object> told(Exchange exchange, Forked fork, Duration time) {
    return switch (fork) {
      case Forked.Made(var entry, var _) ->
          Map.of("sandbox", described.opened(exchange, serving.engine().renew(entry.id(), time)));
      case Forked.Failed(var why) -> Map.of("error", E2bError.control(why.fault()).body());
    };
  }
}
