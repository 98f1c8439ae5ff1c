package dev.isola.compat.e2b.volume;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.isola.compat.e2b.model.E2bCredentials;
import dev.isola.compat.e2b.model.E2bDialect;
import dev.isola.compat.e2b.model.E2bRequestBody;
import dev.isola.compat.e2b.template.E2bTemplate;
import dev.isola.compat.e2b.template.E2bTemplates;
import dev.isola.engine.api.HelperProfile;
import dev.isola.engine.api.VolumeFiles;
import dev.isola.engine.api.VolumeView;
import dev.isola.server.content.FileListing;
import dev.isola.server.content.FileResponse;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.AnyObjectShape;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.WriteOptions;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Routes for the files of a volume, authorized by the token of the volume. */
record VolumeContentRoutes(ServerContext context, E2bTemplates templates, VolumeTokens tokens) {
  private static final String BYTES = "application/octet-stream";
  private static final String PREFIX = "/volumecontent/{volume}/";
  private static final String BEARER = "Bearer ";
  private static final int MAX_ENTRIES = 100_000;
  private static final int MAX_DEPTH = 1000;
  private static final int FOLDER_MODE = 0755;
  private static final Shape ANY = new AnyObjectShape();
  private static final Parameter MODE =
      Parameter.query(
          "mode", new Shape.WholeNumber(0, 07777), "permission bits, as a decimal number");
  private static final Parameter UID =
      Parameter.query("uid", new Shape.WholeNumber(0, 0xffff), "the user id of the owner");
  private static final Parameter GID =
      Parameter.query("gid", new Shape.WholeNumber(0, 0xffff), "the group id");
  private static final Parameter FORCE =
      Parameter.query(
          "force",
          new Shape.Choice(List.of("true", "false")),
          "whether to create parent directories and to replace an existing file");

  List<Route> routes() {
    return List.of(
        route("GET", "dir", "e2bVolumeList", "Lists a directory in a volume.")
            .takes(
                Parameter.query(
                    "depth", new Shape.WholeNumber(1, MAX_DEPTH), "levels of subdirectories"))
            .handledBy(this::list),
        route("POST", "dir", "e2bVolumeFolder", "Creates a directory in a volume.")
            .takes(MODE, UID, GID, FORCE)
            .handledBy(this::makeFolder),
        route("GET", "path", "e2bVolumeStat", "Describes a file in a volume.")
            .handledBy(exchange -> exchange.json(200, describe(target(exchange)))),
        route(
                "PATCH",
                "path",
                "e2bVolumeChange",
                "Changes the owner and the permissions of a file.")
            .takes(new Route.Body.Json(ANY, false))
            .handledBy(this::change),
        route("DELETE", "path", "e2bVolumeRemove", "Removes a file or a directory tree.")
            .handledBy(this::remove),
        route("GET", "file", "e2bVolumeRead", "Reads a file in a volume.")
            .answers(Response.of(BYTES, "the content"))
            .handledBy(this::read),
        route("PUT", "file", "e2bVolumeWrite", "Writes a file in a volume.")
            .takes(MODE, UID, GID, FORCE)
            .takes(new Route.Body.Stream(BYTES))
            .handledBy(this::write));
  }

  /** Builds a route that accepts only the token of the volume and no API key. */
  private static Route route(String method, String what, String name, String summary) {
    return Route.of(method, PREFIX + what, name, summary)
        .withoutKey()
        .of(E2bDialect.CONTROL)
        .takes(Parameter.query("path", new Shape.Text(4096, ""), "path in the volume"));
  }

  /** A path in a volume, and the file system of the helper sandbox that mounts the volume. */
  private record VolumePath(FileSystem files, String path) {}

  private VolumePath target(Exchange exchange) {
    VolumeView volume = authorize(exchange);
    String path = VolumeFiles.resolve(exchange.query("path").orElse(""));
    E2bTemplate template = templates.helperTemplate();
    HelperProfile profile =
        new HelperProfile(template.image(), template.image().map(image -> template.user()));
    return new VolumePath(
        context.engine().volumes().files(E2bVolumeRoutes.TENANT, volume.name(), profile).files(),
        path);
  }

  /** Authorizes a request. A missing volume and a wrong token cause the same error. */
  private VolumeView authorize(Exchange exchange) {
    String token =
        exchange
            .header("Authorization")
            .filter(text -> text.regionMatches(true, 0, BEARER, 0, BEARER.length()))
            .map(text -> text.substring(BEARER.length()).strip())
            .orElse("");
    String id = exchange.path("volume");
    VolumeView volume =
        context
            .engine()
            .volumes()
            .find(E2bVolumeRoutes.TENANT, id)
            .filter(one -> tokens.isValid(id, token))
            .orElseThrow(
                () ->
                    Fault.of(
                            ErrorCode.UNAUTHENTICATED,
                            "the volume token is missing or invalid",
                            "get the volume with an API key; the response contains its token")
                        .exception());
    exchange.setActor(E2bCredentials.VOLUME_ACTOR);
    return volume;
  }

  private void list(Exchange exchange) throws IOException {
    VolumePath target = target(exchange);
    int depth = exchange.query("depth").map(Integer::parseInt).orElse(1);
    if (target.files().stat(target.path()).type() != FileType.FOLDER) {
      throw Fault.of(
              ErrorCode.NOT_A_FOLDER, "the path is not a directory", "list the parent directory")
          .exception();
    }
    try (Stream<FileInfo> found = target.files().list(target.path(), depth)) {
      exchange.json(
          200,
          FileListing.of(found, MAX_ENTRIES, "the directory").stream()
              .map(VolumeContentRoutes::entry)
              .toList());
    }
  }

  private void makeFolder(Exchange exchange) throws IOException {
    VolumePath target = target(exchange);
    String parent = target.path().substring(0, target.path().lastIndexOf('/'));
    if (target.files().exists(target.path())) {
      throw Fault.of(ErrorCode.FILE_EXISTS, "the path already exists", "use another path")
          .exception();
    }
    if (!flag(exchange).orElse(false)) {
      target.files().stat(parent); // fails if the parent does not exist
    }
    int mode = exchange.query("mode").map(Integer::parseInt).orElse(FOLDER_MODE);
    target.files().makeFolder(target.path(), mode);
    changeOwner(target, exchange.query("uid"), exchange.query("gid"));
    exchange.json(201, describe(target));
  }

  private void change(Exchange exchange) throws IOException {
    VolumePath target = target(exchange);
    E2bRequestBody body = new E2bRequestBody(exchange.body());
    target.files().stat(target.path(), NOFOLLOW_LINKS);
    body.wholeNumber("mode")
        .ifPresent(mode -> target.files().changeMode(target.path(), checkRange(mode)));
    changeOwner(
        target,
        body.wholeNumber("uid").map(number -> Integer.toString(checkRange(number))),
        body.wholeNumber("gid").map(number -> Integer.toString(checkRange(number))));
    exchange.json(200, describe(target));
  }

  private static int checkRange(long number) {
    if (number < 0 || number > 0xffff) {
      throw E2bRequestBody.invalidField("mode, uid, gid", "must be from 0 to 65535");
    }
    return (int) number;
  }

  private void remove(Exchange exchange) throws IOException {
    VolumePath target = target(exchange);
    if (target.path().equals(VolumeFiles.MOUNT)) {
      throw E2bRequestBody.invalidField("path", "must not be the volume itself");
    }
    target.files().remove(target.path(), true);
    exchange.noContent();
  }

  private void read(Exchange exchange) throws IOException {
    VolumePath target = target(exchange);
    FileInfo info = target.files().stat(target.path());
    if (info.type() == FileType.FOLDER) {
      throw Fault.of(ErrorCode.IS_A_FOLDER, "the path is a directory", "list the directory")
          .exception();
    }
    FileResponse.send(
        exchange,
        200,
        BYTES,
        target.files().read(target.path(), new ReadRange(0, info.size())),
        Map.of("Content-Length", Long.toString(info.size())));
  }

  private void write(Exchange exchange) throws IOException {
    VolumePath target = target(exchange);
    WriteOptions options = WriteOptions.DEFAULT;
    if (!flag(exchange).orElse(true)) {
      options = options.onlyNew();
    }
    if (exchange.query("mode").isPresent()) {
      options = options.withMode(Integer.parseInt(exchange.query("mode").get()));
    }
    target.files().write(target.path(), exchange.content(), options);
    changeOwner(target, exchange.query("uid"), exchange.query("gid"));
    exchange.json(201, describe(target));
  }

  private static Optional<Boolean> flag(Exchange exchange) {
    return exchange.query("force").map(Boolean::parseBoolean);
  }

  private static void changeOwner(VolumePath target, Optional<String> uid, Optional<String> gid) {
    if (uid.isPresent() || gid.isPresent()) {
      FileInfo now = target.files().stat(target.path(), NOFOLLOW_LINKS);
      target
          .files()
          .changeOwner(
              target.path(),
              uid.orElse(Long.toString(now.uid())) + ":" + gid.orElse(Long.toString(now.gid())));
    }
  }

  private static Map<String, Object> describe(VolumePath target) {
    return entry(target.files().stat(target.path(), NOFOLLOW_LINKS));
  }

  /**
   * Describes a file. The provider contract has only one timestamp, the time of the last
   * modification.
   */
  private static Map<String, Object> entry(FileInfo info) {
    Map<String, Object> json = new LinkedHashMap<>();
    String path = VolumeFiles.pathInVolume(info);
    json.put("name", path.equals("/") ? "/" : info.name());
    json.put(
        "type",
        switch (info.type()) {
          case FILE -> "file";
          case FOLDER -> "directory";
          case LINK -> "symlink";
          case OTHER -> "unknown";
        });
    json.put("path", path);
    json.put("size", info.size());
    json.put("mode", info.mode());
    json.put("uid", info.uid());
    json.put("gid", info.gid());
    for (String time : List.of("atime", "mtime", "ctime")) {
      json.put(time, info.modifiedAt().toString());
    }
    info.linkTarget().ifPresent(target -> json.put("target", target));
    return json;
  }
}
