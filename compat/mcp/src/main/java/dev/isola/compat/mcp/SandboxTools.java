package dev.isola.compat.mcp;

import dev.isola.engine.api.ForkKind;
import dev.isola.engine.api.ForkRequest;
import dev.isola.engine.api.ForkResult;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxPage;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.SnapshotReport;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.access.KeyPolicy;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Query;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.spec.Violation;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Tools that create, list, destroy, save and fork sandboxes. */
record SandboxTools(ServerContext context, ToolSandboxes sandboxes) {
  private static final int MAX_LISTED = 50;
  private static final String SNAPSHOT_IMAGE = "snapshot:";

  static final Field SANDBOX =
      Field.optional(
          "sandbox", new Shape.NonEmptyText(63), "Name or id. Default: the session's sandbox.");

  List<Tool> tools() {
    return List.of(
        new Tool(
            "create_sandbox",
            "Create a sandbox: an isolated Linux environment. Destroyed when unused for an hour.",
            Scope.USE,
            false,
            new Shape.Obj(
                Field.optional("name", new Shape.NonEmptyText(63), "Name to refer to it."),
                Field.optional("image", new Shape.NonEmptyText(256), "Image to start from."),
                Field.optional(
                    "from",
                    new Shape.NonEmptyText(80),
                    "Copy the files of this snapshot (snapshot:ID) or running sandbox (fork)."),
                Field.optional(
                    "allowDomains",
                    new Shape.ListOf(new Shape.NonEmptyText(256), 100),
                    "Hosts it may reach, such as pypi.org or *.example.com. Default: the server's"
                        + " setting."),
                Field.optional(
                    "env", new Shape.MapOf(new Shape.Text(65_536, "")), "Environment variables."),
                Field.optional(
                    "ttlSeconds",
                    new Shape.WholeNumber(1, 31_536_000),
                    "Destroy it after this time.")),
            this::create),
        new Tool(
            "list_sandboxes",
            "List sandboxes, newest first.",
            Scope.READ,
            true,
            new Shape.Obj(),
            this::list),
        new Tool(
            "destroy_sandbox",
            "Destroy a sandbox with all its files and processes.",
            Scope.USE,
            false,
            new Shape.Obj(SANDBOX),
            this::destroy),
        new Tool(
            "snapshot",
            "Save the files of a sandbox. Restore with create_sandbox and from.",
            Scope.USE,
            false,
            new Shape.Obj(SANDBOX),
            this::snapshot));
  }

  private ToolResult create(ToolCall call) {
    Optional<String> from = call.text("from");
    if (from.isPresent() && !from.get().startsWith(SNAPSHOT_IMAGE)) {
      return fork(call, from.get());
    }
    Map<String, Object> document = new LinkedHashMap<>();
    from.or(() -> call.text("image")).ifPresent(image -> document.put("image", image));
    if (call.arguments().get("allowDomains") instanceof List<?> domains) {
      document.put("network", Map.of("allowDomains", domains));
    }
    if (call.arguments().get("env") instanceof Map<?, ?> env) {
      document.put("env", env);
    }
    SandboxView view =
        sandboxes.create(
            call.exchange(),
            document,
            call.text("name"),
            call.number("ttlSeconds").map(Duration::ofSeconds));
    return created(view, "created");
  }

  private static ToolResult created(SandboxView view, String how) {
    return ToolResult.of(how + " sandbox " + view.id() + " (" + view.provider() + ")", json(view));
  }

  /** A fork has the spec of its source, so nothing else can be chosen. */
  private ToolResult fork(ToolCall call, String source) {
    if (call.arguments().size() > 1) {
      throw Query.invalid(
          List.of(new Violation("from", "of a sandbox cannot be combined with other arguments")));
    }
    SandboxView view =
        sandboxes.require(
            new ToolCall(
                call.exchange(), Map.of("sandbox", source), Optional.empty(), call.waiting()));
    ForkRequest request =
        ForkRequest.of(1, ForkKind.FILESYSTEM)
            .withHostAccess(HostAccessGuard.mayRequestHostAccess(call.exchange()))
            .withKey(KeyPolicy.keyName(call.exchange()));
    return switch (context.engine().forks().fork(view.id(), request).getFirst()) {
      case ForkResult.Created(var fork, var _) -> created(fork, "forked");
      case ForkResult.Failed(var why) -> throw why;
    };
  }

  private ToolResult list(ToolCall call) {
    SandboxPage page =
        context
            .sandboxes()
            .list(
                SandboxListFilter.ALL.notDestroyed().pooled(false).newestFirst(true),
                "",
                MAX_LISTED);
    String text =
        page.entries().stream()
            .map(
                view ->
                    view.id()
                        + view.name().map(name -> " " + name).orElse("")
                        + " "
                        + state(view)
                        + " "
                        + view.provider())
            .collect(Collectors.joining("\n"));
    boolean more = page.next().isPresent();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("sandboxes", page.entries().stream().map(SandboxTools::json).toList());
    json.put("more", more);
    String rest = more ? "\n[older sandboxes are not listed]" : "";
    return ToolResult.of(text.isEmpty() ? "no sandboxes" : text + rest, json);
  }

  private static String state(SandboxView view) {
    return view.state().name().toLowerCase(Locale.ROOT);
  }

  static Map<String, Object> json(SandboxView view) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("sandbox", view.id().value());
    view.name().ifPresent(name -> json.put("name", name));
    json.put("state", state(view));
    json.put("provider", view.provider());
    json.put("createdAt", view.createdAt().toString());
    view.expiresAt().ifPresent(time -> json.put("expiresAt", time.toString()));
    return json;
  }

  private ToolResult destroy(ToolCall call) {
    SandboxView view = sandboxes.require(call);
    context.sandboxes().destroy(view.id(), DestroyOptions.NORMAL);
    return ToolResult.of("destroyed " + view.id(), Map.of("sandbox", view.id().value()));
  }

  private ToolResult snapshot(ToolCall call) {
    SandboxView view = sandboxes.require(call);
    SnapshotReport report =
        context.engine().snapshots().create(view.id(), SnapshotRequest.EVERYTHING);
    String id = report.snapshot().id();
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("snapshot", SNAPSHOT_IMAGE + id);
    json.put("files", report.snapshot().files());
    json.put("bytes", report.snapshot().bytes());
    return ToolResult.of(
        "saved " + report.snapshot().files() + " files as " + SNAPSHOT_IMAGE + id, json);
  }
}
