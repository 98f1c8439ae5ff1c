package dev.isola.server.api;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.engine.api.HelperProfile;
import dev.isola.engine.api.VolumeFiles;
import dev.isola.server.auth.Scope;
import dev.isola.server.content.FileResponse;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Query;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.spec.Violation;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Routes for the files of a volume. Paths are relative to the volume. */
record VolumeFileRoutes(ServerContext context) {
  private static final String TEMPLATE = VolumeRoutes.TEMPLATE + "/{volume}/files";
  private static final String BYTES = "application/octet-stream";
  private static final String TAR = "application/x-tar";
  private static final int FOLDER_MODE = 0755;
  private static final int MAX_LISTED = 10_000;
  private static final Parameter PATH =
      Parameter.query("path", Shapes.PATH, "path in the volume; . is its root").asRequired();
  private static final Shape LIST =
      new Shape.Obj(
              Field.required("entries", new Shape.ListOf(Shapes.FILE, MAX_LISTED), "the entries"),
              Field.required("truncated", Shapes.FLAG, "whether there are more than 10000 entries"))
          .named("VolumeFileList");

  List<Route> routes() {
    return List.of(
        route("GET", "", "listVolumeFiles", "Lists a directory in a volume.")
            .takes(
                PATH,
                Parameter.query(
                    "depth",
                    new Shape.WholeNumber(0, 1000),
                    "levels of subdirectories; 0 for all; default 1"))
            .answers(Response.json(200, LIST))
            .handledBy(this::list),
        route(
                "GET",
                "/stat",
                "statVolumeFile",
                "Describes a file in a volume. Does not follow symbolic links.")
            .takes(PATH)
            .answers(Response.json(200, Shapes.FILE))
            .handledBy(this::stat),
        route("GET", "/content", "readVolumeFile", "Reads a file in a volume.")
            .takes(PATH)
            .answers(Response.of(BYTES, "the content"))
            .handledBy(this::read),
        route(
                "PUT",
                "/content",
                "writeVolumeFile",
                "Writes a file in a volume atomically and creates its parent directories.")
            .needs(Scope.USE)
            .takes(PATH, Parameter.query("mode", ModeBits.SHAPE, "permission bits, such as 0644"))
            .takes(new Body.Stream(BYTES))
            .answers(Response.json(200, Shapes.FILE))
            .handledBy(this::write),
        route(
                "DELETE",
                "",
                "removeVolumeFile",
                "Removes a file, a link or a directory in a volume.")
            .needs(Scope.USE)
            .takes(
                PATH,
                Parameter.query("recursive", Shapes.FLAG, "remove a directory tree; default false"))
            .handledBy(this::remove),
        route(
                "POST",
                "/folder",
                "makeVolumeFolder",
                "Creates a directory in a volume and its parents.")
            .needs(Scope.USE)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required("path", Shapes.PATH, "path in the volume").example("data"),
                        Field.optional("mode", ModeBits.SHAPE, "permission bits; default 0755")),
                    true))
            .handledBy(this::makeFolder),
        route(
                "GET",
                "/tree",
                "exportVolumeTree",
                "Exports a directory of a volume as a tar archive.")
            .takes(
                PATH,
                Parameter.query("exclude", Shapes.PATH, "pattern of paths to exclude")
                    .asRepeatable())
            .answers(Response.of(TAR, "the archive"))
            .handledBy(this::exportTree),
        route(
                "PUT",
                "/tree",
                "importVolumeTree",
                "Imports a tar archive into a directory of a volume.")
            .needs(Scope.USE)
            .takes(PATH)
            .takes(new Body.Stream(TAR))
            .answers(Response.json(200, Shapes.TREE_SUMMARY))
            .handledBy(this::importTree));
  }

  private static Route route(String method, String rest, String name, String summary) {
    return Route.of(method, TEMPLATE + rest, name, summary).takes(VolumeRoutes.VOLUME);
  }

  /** Validates the path before a helper sandbox is created. */
  private VolumeFiles files(Exchange exchange, String path) {
    VolumeFiles.refuseOutside(path);
    return context
        .engine()
        .volumes()
        .files(VolumeRoutes.TENANT, VolumeRoutes.name(exchange), HelperProfile.DEFAULT);
  }

  private static String path(Exchange exchange) {
    return exchange.query("path").orElseThrow();
  }

  /** Describes a file by its path in the volume. */
  private static Map<String, Object> json(FileInfo info) {
    Map<String, Object> json = JsonViews.file(info);
    String path = VolumeFiles.pathInVolume(info);
    json.put("path", path);
    json.put("name", path.equals("/") ? "/" : info.name());
    return json;
  }

  private void list(Exchange exchange) throws IOException {
    VolumeFiles volume = files(exchange, path(exchange));
    int depth = exchange.query("depth").map(Integer::parseInt).orElse(1);
    try (Stream<FileInfo> found =
        volume.files().list(volume.resolveExisting(path(exchange)), depth)) {
      List<Map<String, Object>> entries =
          found.limit(MAX_LISTED + 1L).map(VolumeFileRoutes::json).toList();
      boolean more = entries.size() > MAX_LISTED;
      exchange.json(
          200,
          Map.of("entries", more ? entries.subList(0, MAX_LISTED) : entries, "truncated", more));
    }
  }

  private void stat(Exchange exchange) throws IOException {
    VolumeFiles volume = files(exchange, path(exchange));
    String path = volume.resolveEntry(path(exchange));
    exchange.json(200, json(volume.files().stat(path, NOFOLLOW_LINKS)));
  }

  private void read(Exchange exchange) throws IOException {
    VolumeFiles volume = files(exchange, path(exchange));
    String path = volume.resolveExisting(path(exchange));
    FileResponse.send(exchange, 200, BYTES, volume.files().read(path, ReadRange.ALL), Map.of());
  }

  private void write(Exchange exchange) throws IOException {
    VolumeFiles volume = files(exchange, path(exchange));
    Optional<Integer> mode = ModeBits.of(exchange.query("mode").orElse(null));
    WriteOptions options =
        mode.isPresent() ? WriteOptions.DEFAULT.withMode(mode.get()) : WriteOptions.DEFAULT;
    FileInfo written =
        volume
            .files()
            .write(volume.resolveDestination(path(exchange)), exchange.content(), options);
    exchange.json(200, json(written));
  }

  private void remove(Exchange exchange) throws IOException {
    VolumeFiles volume = files(exchange, path(exchange));
    String path = volume.resolveEntry(path(exchange));
    if (path.equals(VolumeFiles.MOUNT)) {
      throw Query.invalid(List.of(new Violation("path", "must not be the volume itself")));
    }
    volume.files().remove(path, exchange.query("recursive").equals(Optional.of("true")));
    exchange.noContent();
  }

  private void makeFolder(Exchange exchange) throws IOException {
    String path = exchange.text("path");
    VolumeFiles volume = files(exchange, path);
    int mode = ModeBits.of(exchange.body().get("mode")).orElse(FOLDER_MODE);
    volume.files().makeFolder(volume.resolveDestination(path), mode);
    exchange.noContent();
  }

  private void exportTree(Exchange exchange) throws IOException {
    VolumeFiles volume = files(exchange, path(exchange));
    String path = volume.resolveExisting(path(exchange));
    FileResponse.send(
        exchange, 200, TAR, volume.files().exportTree(path, exchange.queries("exclude")), Map.of());
  }

  private void importTree(Exchange exchange) throws IOException {
    VolumeFiles volume = files(exchange, path(exchange));
    TreeSummary done =
        volume
            .files()
            .importTree(
                volume.resolveDestination(path(exchange)), exchange.content(), TreeLimits.DEFAULT);
    exchange.json(200, Map.of("entries", done.entries(), "bytes", done.bytes()));
  }
}
