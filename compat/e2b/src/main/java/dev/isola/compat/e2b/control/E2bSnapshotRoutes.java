package dev.isola.compat.e2b.control;

import dev.isola.compat.e2b.create.CreateRequestMapper;
import dev.isola.compat.e2b.create.TemplateStartup;
import dev.isola.compat.e2b.model.E2bError;
import dev.isola.compat.e2b.model.E2bLabels;
import dev.isola.compat.e2b.model.E2bRequestBody;
import dev.isola.compat.e2b.template.E2bTemplates;
import dev.isola.engine.api.ForkKind;
import dev.isola.engine.api.ForkRequest;
import dev.isola.engine.api.ForkResult;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.engine.api.Startup;
import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.access.KeyPolicy;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Shape;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.Unsupported;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Routes for snapshots and forks. Snapshots contain files. Forks continue the processes of the
 * source where its provider supports that, and otherwise have its files.
 */
public record E2bSnapshotRoutes(
    ServerContext context, E2bTemplates templates, E2bSandboxView view) {
  private static final int MAX_PAGE = 100;

  public List<Route> routes() {
    return List.of(
        E2bSandboxRoutes.sandboxRoute("POST", "/snapshots", "e2bSnapshot", "Creates a snapshot.")
            .handledBy(this::create),
        E2bSandboxRoutes.sandboxRoute("POST", "/fork", "e2bFork", "Forks a sandbox.")
            .handledBy(this::fork),
        E2bSandboxRoutes.route(
                "GET", "/snapshots", "e2bSnapshots", "Lists snapshots, newest first.")
            .needs(Scope.READ)
            .takes(
                Parameter.query("limit", new Shape.WholeNumber(1, MAX_PAGE), "page size"),
                Parameter.query(
                    "nextToken",
                    new Shape.WholeNumber(0, Integer.MAX_VALUE),
                    "token of the previous page"))
            .handledBy(this::list));
  }

  private void create(Exchange exchange) throws IOException {
    SandboxView entry = SandboxLookup.find(context, exchange);
    SandboxId id = entry.id();
    Map<String, String> tags =
        new HashMap<>(Map.of(E2bLabels.SNAPSHOT_TEMPLATE, E2bLabels.template(entry)));
    new E2bRequestBody(exchange.body())
        .text("name")
        .ifPresent(name -> tags.put(E2bLabels.SNAPSHOT_NAME, name));
    exchange.json(
        201,
        json(
            context
                .engine()
                .snapshots()
                .create(id, SnapshotRequest.EVERYTHING.withTags(tags))
                .snapshot()));
  }

  private static Map<String, Object> json(Snapshot snapshot) {
    return Map.of(
        "snapshotID",
        snapshot.id(),
        "names",
        Optional.ofNullable(snapshot.tags().get(E2bLabels.SNAPSHOT_NAME)).stream().toList());
  }

  private void list(Exchange exchange) throws IOException {
    Optional<String> sandbox = exchange.query("sandboxID");
    Optional<String> name = exchange.query("name");
    int from = exchange.query("nextToken").map(Integer::parseInt).orElse(0);
    int limit = exchange.query("limit").map(Integer::parseInt).orElse(MAX_PAGE);
    List<Snapshot> found =
        context.engine().snapshots().list().reversed().stream()
            .filter(one -> sandbox.isEmpty() || one.sandbox().equals(sandbox.get()))
            .filter(
                one -> name.isEmpty() || name.get().equals(one.tags().get(E2bLabels.SNAPSHOT_NAME)))
            .toList();
    int to = Math.min(found.size(), from + limit);
    if (to < found.size()) {
      exchange.addHeader(E2bSandboxListRoutes.NEXT_TOKEN_HEADER, Integer.toString(to));
    }
    exchange.json(
        200, found.subList(Math.min(from, to), to).stream().map(E2bSnapshotRoutes::json).toList());
  }

  private void fork(Exchange exchange) throws IOException {
    SandboxView source = SandboxLookup.find(context, exchange);
    E2bRequestBody body = new E2bRequestBody(exchange.body());
    Duration time = CreateRequestMapper.seconds(body, "timeout", 300);
    int count =
        Math.toIntExact(Math.clamp(body.wholeNumber("count").orElse(1L), 0, Integer.MAX_VALUE));
    ForkRequest request =
        ForkRequest.of(count, ForkKind.MEMORY)
            .withHostAccess(HostAccessGuard.mayRequestHostAccess(exchange))
            .withKey(KeyPolicy.keyName(exchange));
    exchange.json(
        201, fork(source, request).stream().map(fork -> forkResult(exchange, fork, time)).toList());
  }

  /**
   * Forks the memory of a sandbox, or its files if its memory cannot be forked: the provider does
   * not support that, or the sandbox has a network, secret variables or something else that
   * prevents it. E2B's request has no kind.
   */
  private List<ForkResult> fork(SandboxView source, ForkRequest request) {
    try {
      return context.engine().forks().fork(source.id(), request);
    } catch (Unsupported | Conflict e) { // nothing was created
      Startup startup = TemplateStartup.of(templates.of(source), source.request().spec());
      return context
          .engine()
          .forks()
          .fork(source.id(), request.withKind(ForkKind.FILESYSTEM).withStartup(startup));
    }
  }

  private Map<String, Object> forkResult(Exchange exchange, ForkResult fork, Duration time) {
    return switch (fork) {
      case ForkResult.Created(var entry, var _) ->
          Map.of("sandbox", view.connected(exchange, context.sandboxes().renew(entry.id(), time)));
      case ForkResult.Failed(var why) -> Map.of("error", E2bError.control(why.fault()).body());
    };
  }
}
