package dev.isola.server.api;

import dev.isola.server.access.ReadableFiles;
import dev.isola.server.auth.Scope;
import dev.isola.server.content.FileResponse;
import dev.isola.server.context.ServerContext;
import dev.isola.server.error.Problem;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Routes that export and import directory trees as tar archives. */
record TreeRoutes(ServerContext context) {
  private static final String TEMPLATE = FileRoutes.TEMPLATE + "/tree";
  private static final String TAR = "application/x-tar";

  List<Route> routes() {
    return List.of(
        Route.of(
                "GET",
                TEMPLATE,
                "exportTree",
                "Exports a directory as a tar archive. With measure, the headers Isola-Entries and"
                    + " Isola-Bytes contain the number of entries and their size.")
            .acceptsSandboxTokens()
            .takes(
                Shapes.ID,
                FileRoutes.PATH,
                Parameter.query("exclude", Shapes.PATH, "pattern of paths to exclude")
                    .asRepeatable(),
                Parameter.query(
                    "measure", Shapes.FLAG, "count entries and bytes first; default false"))
            .answers(Response.of(TAR, "the archive"))
            .handledBy(this::export),
        Route.of("PUT", TEMPLATE, "importTree", "Imports a tar archive into a directory.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(Shapes.ID, FileRoutes.PATH)
            .takes(new Body.Stream(TAR))
            .answers(Response.json(200, Shapes.TREE_SUMMARY))
            .handledBy(
                exchange ->
                    exchange.json(
                        200,
                        json(
                            files(exchange)
                                .importTree(
                                    path(exchange), exchange.content(), TreeLimits.DEFAULT)))),
        Route.of(
                "POST",
                TEMPLATE,
                "importTreeWithProgress",
                "Imports a tar archive into a directory. Streams progress events with the number of"
                    + " bytes read from the archive, then done or problem. The client must read"
                    + " while it sends.")
            .acceptsSandboxTokens()
            .needs(Scope.USE)
            .takes(Shapes.ID, FileRoutes.PATH)
            .takes(new Body.Stream(TAR))
            .answers(Response.of("text/event-stream", "progress, then done or problem"))
            .handledBy(this::importTreeWithProgress));
  }

  private FileSystem files(Exchange exchange) {
    return context.sandboxes().get(exchange.sandbox()).files();
  }

  private static String path(Exchange exchange) {
    return exchange.query("path").orElseThrow();
  }

  private static Map<String, Object> json(TreeSummary summary) {
    return Map.of("entries", summary.entries(), "bytes", summary.bytes());
  }

  private void export(Exchange exchange) throws IOException {
    ReadableFiles files = ReadableFiles.of(exchange.key(), files(exchange));
    Map<String, String> headers =
        exchange.query("measure").equals(Optional.of("true"))
            ? measured(files, path(exchange))
            : Map.of();
    FileResponse.send(
        exchange, 200, TAR, files.exportTree(path(exchange), exchange.queries("exclude")), headers);
  }

  private static Map<String, String> measured(ReadableFiles files, String path) {
    long entries = 0;
    long bytes = 0;
    try (Stream<FileInfo> all = files.list(path, 0)) {
      for (Iterator<FileInfo> each = all.iterator(); each.hasNext(); entries++) {
        FileInfo info = each.next();
        bytes += info.type() == FileType.FILE ? info.size() : 0;
      }
    }
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Isola-Entries", Long.toString(entries));
    headers.put("Isola-Bytes", Long.toString(bytes));
    return headers;
  }

  private void importTreeWithProgress(Exchange exchange) throws IOException {
    FileSystem files = files(exchange);
    try (SseResponse sse = SseResponse.begin(exchange)) {
      ProgressInputStream archive = new ProgressInputStream(exchange.content(), sse);
      try {
        TreeSummary done = files.importTree(path(exchange), archive, TreeLimits.DEFAULT);
        sse.send("done", Long.toString(archive.bytesRead()), json(done));
      } catch (SandboxException e) {
        sse.send(
            "problem",
            Long.toString(archive.bytesRead()),
            Problem.of(e, exchange.requestId()).body());
      }
    }
  }
}
