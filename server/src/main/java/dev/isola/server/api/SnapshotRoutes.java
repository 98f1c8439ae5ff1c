package dev.isola.server.api;

import dev.isola.engine.api.ForkKind;
import dev.isola.engine.api.ForkRequest;
import dev.isola.engine.api.ForkResult;
import dev.isola.engine.api.ReservedTags;
import dev.isola.engine.api.SnapshotKinds;
import dev.isola.engine.api.SnapshotReport;
import dev.isola.engine.api.SnapshotRequest;
import dev.isola.engine.api.snapshot.ForkService;
import dev.isola.engine.api.snapshot.SnapshotService;
import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.access.KeyPolicy;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Query;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.snapshot.SnapshotDiff;
import dev.isola.snapshot.chunk.ChunkStore.GarbageStats;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.spec.Violation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Routes that create, list, compare and remove snapshots and that fork sandboxes. A snapshot is
 * restored by using it as an image.
 */
record SnapshotRoutes(ServerContext context) {
  private static final int MAX_LISTED = 10_000;
  private static final int MAX_PATTERNS = 256;
  private static final Shape PATTERNS = new Shape.ListOf(Shapes.PATH, MAX_PATTERNS);
  private static final Shape PATHS = new Shape.ListOf(Shapes.PATH, Integer.MAX_VALUE);

  private static final Shape KINDS =
      new Shape.Choice(Stream.of(ForkKind.values()).map(ForkKind::wireName).toList());

  private static final Shape SCOPES = new Shape.Choice(List.of("everything", "folder"));

  private static final Parameter SNAPSHOT =
      Parameter.path("snapshot", new Shape.NonEmptyText(40), "snapshot id");

  private static final Shape.Obj SHAPE =
      new Shape.Obj(
              Field.required("id", Shapes.WORD, "snapshot id; snapshot:ID can be used as an image")
                  .example("s20260131x7k2"),
              Field.required("createdAt", Shapes.TIME, "creation time"),
              Field.required("sandbox", Shapes.WORD, "sandbox that it was taken from")
                  .example("k3v9x2m7q4n8"),
              Field.required("provider", Shapes.WORD, "provider of the sandbox")
                  .example("bubblewrap"),
              Field.required("runtime", Shapes.WORD, "version of Isola that created it")
                  .example("0.1.0"),
              Field.required("architecture", Shapes.WORD, "CPU architecture").example("amd64"),
              Field.required(
                      "kind",
                      Shapes.WORD,
                      "filesystem: processes start again; memory: they continue, at the same"
                          + " provider")
                  .example("filesystem"),
              Field.required("tags", Shapes.TEXTS, "tags set by the client"),
              Field.optional("parent", Shapes.WORD, "the previous snapshot that it is based on"),
              Field.optional("image", Shapes.TEXT, "image of the sandbox"),
              Field.required("path", Shapes.PATH, "directory in the sandbox").example("/workspace"),
              Field.required("include", PATTERNS, "patterns of included paths; empty for all")
                  .example(List.of()),
              Field.required("exclude", PATTERNS, "patterns of excluded paths").example(List.of()),
              Field.required("scope", SCOPES, "everything that the sandbox wrote, or a directory"),
              Field.optional(
                  "imageDigest",
                  Shapes.TEXT,
                  "digest of the image that its changes are relative to"),
              Field.optional(
                  "folders",
                  PATHS,
                  "directories that it contains completely, with scope everything"),
              Field.required("files", Shapes.COUNT, "number of files, directories and links"),
              Field.required("bytes", Shapes.COUNT, "total size of the content"),
              Field.required("newBytes", Shapes.COUNT, "size of content that was new to the store"),
              Field.required("storedBytes", Shapes.COUNT, "size of the new content in the store"),
              Field.required("checksum", Shapes.WORD, "SHA-256 of the list of files")
                  .example("9f86d081884c7d659a2feaa0c55ad015"))
          .named("Snapshot");

  private static final Shape.Obj ERROR =
      new Shape.Obj(
              Field.required("code", Shapes.WORD, "error code"),
              Field.required("detail", Shapes.TEXT, "what failed"),
              Field.required("remedy", Shapes.TEXT, "what to do"))
          .named("ForkError");

  List<Route> routes() {
    return List.of(
        Route.of(
                "POST",
                "/api/v1/sandboxes/{id}/snapshots",
                "createSnapshot",
                "Creates a snapshot of the files of a sandbox, or its running processes too.")
            .needs(Scope.USE)
            .takes(Shapes.ID)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.optional("tags", Shapes.TEXTS, "tags to attach to the snapshot"),
                        Field.optional(
                            "kind",
                            KINDS,
                            "filesystem (default): processes start again; memory: they continue in"
                                + " every sandbox created from it, where the provider lists it in"
                                + " snapshots"),
                        Field.optional(
                            "allowSecrets",
                            Shapes.FLAG,
                            "whether to store the memory of a sandbox that has secret variables;"
                                + " default false"),
                        Field.optional(
                            "scope",
                            SCOPES,
                            "everything that the sandbox wrote, or a directory; default everything,"
                                + " unless path, include or exclude is given"),
                        Field.optional("path", Shapes.PATH, "the directory; default the workspace"),
                        Field.optional("include", PATTERNS, "patterns of paths to include"),
                        Field.optional("exclude", PATTERNS, "patterns of paths to exclude")),
                    false))
            .answers(
                Response.json(
                    201,
                    SHAPE
                        .and(
                            Field.required(
                                "heldMs", Shapes.COUNT, "how long commands were suspended"),
                            Field.required(
                                "incremental", Shapes.FLAG, "whether only changed files were read"),
                            Field.required(
                                "readBytes", Shapes.COUNT, "bytes read from the sandbox"))
                        .named("CreatedSnapshot")))
            .handledBy(this::create),
        Route.of(
                "POST",
                "/api/v1/sandboxes/{id}/fork",
                "forkSandbox",
                "Creates sandboxes with the current files of this one, or its running processes"
                    + " too.")
            .needs(Scope.USE)
            .takes(Shapes.ID)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.optional(
                            "count",
                            new Shape.WholeNumber(1, ForkService.MAX_FORKS),
                            "number of forks; default 1"),
                        Field.optional(
                            "kind",
                            KINDS,
                            "filesystem (default): processes start again; memory: they continue in"
                                + " every fork, where the provider lists it in forks"),
                        Field.optional(
                            "allowSecrets",
                            Shapes.FLAG,
                            "whether to fork the memory of a sandbox that has secret variables;"
                                + " default false")),
                    false))
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required("kind", KINDS, "the requested kind"),
                            Field.required(
                                "forks",
                                new Shape.ListOf(
                                    new Shape.Obj(
                                            Field.optional(
                                                "sandbox",
                                                SandboxShapes.SANDBOX,
                                                "the new sandbox"),
                                            Field.optional(
                                                "by",
                                                Shapes.WORD,
                                                "how it was created: mount if its files are shared,"
                                                    + " restore if they were copied, memory if its"
                                                    + " processes continue"),
                                            Field.optional("error", ERROR, "why the fork failed"))
                                        .named("Fork"),
                                    ForkService.MAX_FORKS),
                                "one entry per requested fork"))
                        .named("ForkList")))
            .handledBy(this::fork),
        Route.of("GET", "/api/v1/snapshots", "listSnapshots", "Lists snapshots, oldest first.")
            .takes(
                Parameter.query("sandbox", Shapes.WORD, "sandbox that it was taken from"),
                Parameter.query("provider", Shapes.WORD, "provider of the sandbox"),
                Parameter.query("tag", Shapes.TAG, "NAME=VALUE; a snapshot must match all tags")
                    .asRepeatable())
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required(
                                "snapshots", new Shape.ListOf(SHAPE, MAX_LISTED), "the snapshots"))
                        .named("SnapshotList")))
            .handledBy(this::list),
        one("GET", "", "getSnapshot", "Describes a snapshot.")
            .answers(Response.json(200, SHAPE))
            .handledBy(exchange -> exchange.json(200, json(snapshots().get(id(exchange))))),
        one(
                "DELETE",
                "",
                "removeSnapshot",
                "Removes a snapshot. Garbage collection frees its space.")
            .needs(Scope.USE)
            .handledBy(
                exchange -> {
                  snapshots().remove(id(exchange));
                  exchange.noContent();
                }),
        one("GET", "/diff", "diffSnapshots", "Compares the files of two snapshots.")
            .takes(
                Parameter.query("to", new Shape.NonEmptyText(40), "the later snapshot")
                    .asRequired())
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required("added", PATHS, "files only in the later snapshot"),
                            Field.required("changed", PATHS, "files that differ"),
                            Field.required("removed", PATHS, "files only in the earlier snapshot"))
                        .named("SnapshotDiff")))
            .handledBy(this::difference),
        Route.of(
                "POST",
                "/api/v1/gc/snapshots",
                "collectSnapshots",
                "Collects garbage in the snapshot store.")
            .needs(Scope.ADMIN)
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required(
                                "packs", Shapes.COUNT, "number of packs removed or rewritten"),
                            Field.required("bytes", Shapes.COUNT, "number of bytes freed"))
                        .named("CollectedGarbage")))
            .handledBy(
                exchange -> {
                  GarbageStats swept = snapshots().collect();
                  exchange.json(200, Map.of("packs", swept.packs(), "bytes", swept.bytes()));
                }));
  }

  private static Route one(String method, String rest, String name, String summary) {
    return Route.of(method, "/api/v1/snapshots/{snapshot}" + rest, name, summary).takes(SNAPSHOT);
  }

  private SnapshotService snapshots() {
    return context.engine().snapshots();
  }

  private static String id(Exchange exchange) {
    return exchange.path("snapshot");
  }

  private void create(Exchange exchange) throws IOException {
    Map<String, Object> body = exchange.body();
    Map<String, String> tags = new LinkedHashMap<>();
    if (body.get("tags") instanceof Map<?, ?> tagMap) {
      tagMap.forEach((name, value) -> tags.put(String.valueOf(name), String.valueOf(value)));
    }
    ReservedTags.reject(tags);
    SnapshotRequest order =
        new SnapshotRequest(
            tags,
            kind(body),
            Boolean.TRUE.equals(body.get("allowSecrets")),
            scope(body),
            Optional.ofNullable((String) body.get("path")),
            texts(body.get("include")),
            texts(body.get("exclude")));
    if (order.kind() == Snapshot.Kind.MEMORY && order.scope() == SnapshotRequest.Scope.FOLDER) {
      throw Query.invalid(
          List.of(
              new Violation(
                  "kind",
                  "memory contains all files: leave out scope, path," + " include and exclude")));
    }
    SnapshotReport report = snapshots().create(exchange.sandbox(), order);
    Map<String, Object> json = json(report.snapshot());
    json.put("heldMs", report.held().toMillis());
    json.put("incremental", report.incremental());
    json.put("readBytes", report.readBytes());
    exchange.json(201, json);
  }

  private static Snapshot.Kind kind(Map<String, Object> body) {
    return body.get("kind") instanceof String word
        ? Snapshot.Kind.valueOf(word.toUpperCase(Locale.ROOT))
        : Snapshot.Kind.FILESYSTEM;
  }

  private static SnapshotRequest.Scope scope(Map<String, Object> body) {
    List<Violation> folder =
        Stream.of("path", "include", "exclude")
            .filter(body::containsKey)
            .filter(name -> !(body.get(name) instanceof List<?> list && list.isEmpty()))
            .map(name -> new Violation(name, "requires scope folder"))
            .toList();
    if (!(body.get("scope") instanceof String word)) {
      return folder.isEmpty() ? SnapshotRequest.Scope.EVERYTHING : SnapshotRequest.Scope.FOLDER;
    }
    SnapshotRequest.Scope scope = SnapshotRequest.Scope.valueOf(word.toUpperCase(Locale.ROOT));
    if (scope == SnapshotRequest.Scope.EVERYTHING && !folder.isEmpty()) {
      throw Query.invalid(folder);
    }
    return scope;
  }

  private static List<String> texts(@Nullable Object list) {
    return list instanceof List<?> all ? all.stream().map(String::valueOf).toList() : List.of();
  }

  private void fork(Exchange exchange) throws IOException {
    int count = exchange.body().get("count") instanceof Number number ? number.intValue() : 1;
    ForkKind kind =
        exchange.body().get("kind") instanceof String word
            ? ForkKind.valueOf(word.toUpperCase(Locale.ROOT))
            : ForkKind.FILESYSTEM;
    ForkRequest request =
        ForkRequest.of(count, kind)
            .withAllowSecrets(Boolean.TRUE.equals(exchange.body().get("allowSecrets")))
            .withHostAccess(HostAccessGuard.mayRequestHostAccess(exchange))
            .withKey(KeyPolicy.keyName(exchange));
    List<Map<String, Object>> forks =
        context.engine().forks().fork(exchange.sandbox(), request).stream()
            .map(SnapshotRoutes::fork)
            .toList();
    exchange.json(200, Map.of("kind", kind.wireName(), "forks", forks));
  }

  private static Map<String, Object> fork(ForkResult fork) {
    return switch (fork) {
      case ForkResult.Created(var entry, var by) ->
          Map.of("sandbox", JsonViews.sandbox(entry), "by", by.name().toLowerCase(Locale.ROOT));
      case ForkResult.Failed(var why) ->
          Map.of(
              "error",
              Map.of(
                  "code", why.code().name(),
                  "detail", why.fault().problem(),
                  "remedy", why.fault().remedy()));
    };
  }

  private void list(Exchange exchange) throws IOException {
    Map<String, String> tags = new LinkedHashMap<>();
    for (String tag : exchange.queries("tag")) {
      int equals = tag.indexOf('=');
      tags.put(tag.substring(0, equals), tag.substring(equals + 1));
    }
    Optional<String> sandbox = exchange.query("sandbox");
    Optional<String> provider = exchange.query("provider");
    List<Map<String, Object>> found =
        snapshots().list().stream()
            .filter(one -> sandbox.isEmpty() || sandbox.get().equals(one.sandbox()))
            .filter(one -> provider.isEmpty() || provider.get().equals(one.provider()))
            .filter(one -> one.tags().entrySet().containsAll(tags.entrySet()))
            .limit(MAX_LISTED)
            .map(SnapshotRoutes::json)
            .toList();
    exchange.json(200, Map.of("snapshots", found));
  }

  private void difference(Exchange exchange) throws IOException {
    SnapshotDiff found = snapshots().difference(id(exchange), exchange.query("to").orElseThrow());
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("added", utf8Paths(found.added()));
    json.put("changed", utf8Paths(found.changed()));
    json.put("removed", utf8Paths(found.removed()));
    exchange.json(200, json);
  }

  /** Decodes paths, which a snapshot stores as bytes with one char each, as UTF-8. */
  private static List<String> utf8Paths(List<String> paths) {
    return paths.stream()
        .map(path -> new String(path.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8))
        .toList();
  }

  private static Map<String, Object> json(Snapshot snapshot) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", snapshot.id());
    json.put("createdAt", snapshot.createdAt().toString());
    json.put("sandbox", snapshot.sandbox());
    json.put("provider", snapshot.provider());
    json.put("runtime", snapshot.runtime());
    json.put("architecture", snapshot.architecture());
    json.put("kind", SnapshotKinds.wireName(snapshot.kind()));
    json.put("tags", snapshot.tags());
    snapshot.parent().ifPresent(parent -> json.put("parent", parent));
    snapshot.image().ifPresent(image -> json.put("image", image));
    boolean everything = snapshot.coverage().isPresent() || snapshot.kind() == Snapshot.Kind.MEMORY;
    json.put("scope", everything ? "everything" : "folder");
    snapshot
        .coverage()
        .ifPresent(
            written -> {
              written.imageDigest().ifPresent(digest -> json.put("imageDigest", digest));
              json.put("folders", written.folders());
            });
    json.put("path", snapshot.root());
    json.put("include", snapshot.includes());
    json.put("exclude", snapshot.excludes());
    json.put("files", snapshot.files());
    json.put("bytes", snapshot.bytes());
    json.put("newBytes", snapshot.newBytes());
    json.put("storedBytes", snapshot.storedBytes());
    json.put("checksum", snapshot.checksum());
    return json;
  }
}
