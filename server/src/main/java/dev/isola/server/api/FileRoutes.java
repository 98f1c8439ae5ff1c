package dev.isola.server.api;

import dev.isola.codec.json.Json;
import dev.isola.server.access.ReadableFiles;
import dev.isola.server.auth.Scope;
import dev.isola.server.content.ByteRange;
import dev.isola.server.content.FileResponse;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.MatchingText;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Query;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.FileUser;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.spec.Violation;
import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Routes for the files of a sandbox. Content is streamed in both directions. */
record FileRoutes(ServerContext context) {
  static final String TEMPLATE = "/api/v1/sandboxes/{id}/files";
  private static final String BYTES = "application/octet-stream";
  private static final int DEFAULT_LIMIT = 10_000;
  static final Parameter PATH =
      Parameter.query("path", Shapes.PATH, "path in the sandbox").asRequired();
  private static final Parameter LIMIT =
      Parameter.query(
          "limit", new Shape.WholeNumber(1, 100_000), "maximum number of entries; default 10000");
  private static final Shape LIST =
      new Shape.Obj(
              Field.required("entries", new Shape.ListOf(Shapes.FILE, 100_000), "the entries"),
              Field.required("truncated", Shapes.FLAG, "whether there are more entries than limit"))
          .named("FileList");

  List<Route> routes() {
    return List.of(
        Route.of("GET", TEMPLATE + "/content", "readFile", "Reads a file, or a range of it.")
            .acceptsSandboxTokens()
            .takes(
                Shapes.ID,
                PATH,
                Parameter.header(
                    "Range",
                    new MatchingText(
                        "^bytes=([0-9]{1,18}-[0-9]{0,18}|-[0-9]{1,18})$",
                        64,
                        "must be a single range, bytes=FIRST-LAST",
                        "bytes=0-99"),
                    "a single range, bytes=FIRST-LAST"))
            .answers(Response.of(BYTES, "the content").or(206, "the requested range"))
            .handledBy(this::read),
        Route.of(
                "PUT",
                TEMPLATE + "/content",
                "writeFile",
                "Writes a file atomically and creates its parent directories.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(
                Shapes.ID,
                PATH,
                Parameter.query("mode", ModeBits.SHAPE, "permission bits, such as 0644"),
                Parameter.query("user", Shapes.WORD, "the user whose permissions apply"),
                Parameter.query("exclusive", Shapes.FLAG, "fail if the file exists; default false"),
                Parameter.query(
                    "append", Shapes.FLAG, "append to the file, not atomically; default false"))
            .takes(new Body.Stream(BYTES))
            .answers(Response.json(200, Shapes.FILE))
            .handledBy(this::write),
        Route.of(
                "GET",
                TEMPLATE + "/stat",
                "statFile",
                "Describes a file. Does not follow symbolic links.")
            .acceptsSandboxTokens()
            .takes(Shapes.ID, PATH)
            .answers(Response.json(200, Shapes.FILE))
            .handledBy(
                exchange ->
                    exchange.json(200, JsonViews.file(readable(exchange).stat(path(exchange))))),
        Route.of("GET", TEMPLATE, "listFiles", "Lists a directory.")
            .acceptsSandboxTokens()
            .takes(
                Shapes.ID,
                PATH,
                Parameter.query(
                    "depth",
                    new Shape.WholeNumber(0, 1000),
                    "levels of subdirectories; 0 for all; default 1"),
                LIMIT)
            .answers(Response.json(200, LIST))
            .handledBy(
                exchange -> {
                  int depth = exchange.query("depth").map(Integer::parseInt).orElse(1);
                  list(exchange, readable(exchange).list(path(exchange), depth));
                }),
        Route.of("GET", TEMPLATE + "/glob", "globFiles", "Finds files by a glob pattern.")
            .acceptsSandboxTokens()
            .takes(
                Shapes.ID,
                PATH,
                Parameter.query("pattern", Shapes.PATH, "*, ?, [a-z], **").asRequired(),
                LIMIT)
            .answers(Response.json(200, LIST))
            .handledBy(
                exchange ->
                    list(
                        exchange,
                        readable(exchange)
                            .glob(path(exchange), exchange.query("pattern").orElseThrow()))),
        Route.of("DELETE", TEMPLATE, "removeFile", "Removes a file, a link or a directory.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(
                Shapes.ID,
                PATH,
                Parameter.query("recursive", Shapes.FLAG, "remove a directory tree; default false"))
            .handledBy(
                exchange -> {
                  files(exchange).remove(path(exchange), exchange.query("recursive").equals(TRUE));
                  exchange.noContent();
                }),
        Route.of("POST", TEMPLATE + "/folder", "makeFolder", "Creates a directory and its parents.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(Shapes.ID)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required("path", Shapes.PATH, "path in the sandbox").example("src"),
                        Field.optional("mode", ModeBits.SHAPE, "permission bits; default 0755")),
                    true))
            .handledBy(
                exchange -> {
                  int mode = ModeBits.of(exchange.body().get("mode")).orElse(0755);
                  files(exchange).makeFolder(exchange.text("path"), mode);
                  exchange.noContent();
                }),
        Route.of("POST", TEMPLATE + "/move", "moveFile", "Moves or renames a file.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(Shapes.ID)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required("from", Shapes.PATH, "current path").example("old.txt"),
                        Field.required("to", Shapes.PATH, "new path").example("new.txt"),
                        Field.optional(
                            "replace", Shapes.FLAG, "replace an existing file; default false")),
                    true))
            .handledBy(
                exchange -> {
                  files(exchange)
                      .move(
                          exchange.text("from"),
                          exchange.text("to"),
                          Boolean.TRUE.equals(exchange.body().get("replace")));
                  exchange.noContent();
                }),
        Route.of("POST", TEMPLATE + "/mode", "changeMode", "Changes the permission bits of a file.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(Shapes.ID)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required("path", Shapes.PATH, "path in the sandbox")
                            .example("run.sh"),
                        Field.required("mode", ModeBits.SHAPE, "permission bits, such as 0755")),
                    true))
            .handledBy(
                exchange -> {
                  int mode = ModeBits.of(exchange.body().get("mode")).orElseThrow();
                  files(exchange).changeMode(exchange.text("path"), mode);
                  exchange.noContent();
                }));
  }

  private static final Optional<String> TRUE = Optional.of("true");

  private FileSystem files(Exchange exchange) {
    return context.sandboxes().get(exchange.sandbox()).files();
  }

  private ReadableFiles readable(Exchange exchange) {
    return ReadableFiles.of(exchange.key(), files(exchange));
  }

  private static String path(Exchange exchange) {
    return exchange.query("path").orElseThrow();
  }

  private void read(Exchange exchange) throws IOException {
    ReadableFiles files = readable(exchange);
    String path = path(exchange);
    Optional<ByteRange> range = ByteRange.of(exchange.header("Range"));
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Accept-Ranges", "bytes");
    if (range.isPresent()) {
      FileInfo info = files.stat(path);
      // The size of a link's target is unknown; in that case the whole file is sent.
      if (info.type() == FileType.FILE) {
        ByteRange.Part part = range.get().within(info.size());
        headers.put("Content-Range", part.header());
        headers.put("Content-Length", Long.toString(part.length()));
        FileResponse.send(
            exchange,
            206,
            BYTES,
            files.read(path, new ReadRange(part.first(), part.length())),
            headers);
        return;
      }
    }
    FileResponse.send(exchange, 200, BYTES, files.read(path, ReadRange.ALL), headers);
  }

  private void write(Exchange exchange) throws IOException {
    boolean append = exchange.query("append").equals(TRUE);
    boolean exclusive = exchange.query("exclusive").equals(TRUE);
    if (append && exclusive) {
      throw Query.invalid(List.of(new Violation("append", "and exclusive are mutually exclusive")));
    }
    WriteOptions options =
        new WriteOptions(
            ModeBits.of(exchange.query("mode").orElse(null)), !append, exclusive, append, false);
    FileSystem files =
        exchange
            .query("user")
            .map(user -> files(exchange).as(FileUser.of(user)))
            .orElseGet(() -> files(exchange));
    FileInfo written = files.write(path(exchange), exchange.content(), options);
    exchange.json(200, JsonViews.file(written));
  }

  /** Sends entries as they are found. An error after the first entry cuts the response off. */
  private static void list(Exchange exchange, Stream<FileInfo> found) throws IOException {
    int limit = exchange.query("limit").map(Integer::parseInt).orElse(DEFAULT_LIMIT);
    try (found) {
      Iterator<FileInfo> entries = found.iterator();
      Supplier<Boolean> more = entries::hasNext;
      exchange.json(200, Json.object("entries", first(entries, limit), "truncated", more));
    }
  }

  private static Iterable<Map<String, Object>> first(Iterator<FileInfo> entries, int limit) {
    return () ->
        Stream.iterate(0, i -> i < limit && entries.hasNext(), i -> i + 1)
            .map(_ -> JsonViews.file(entries.next()))
            .iterator();
  }
}
