package dev.isola.server.api;

import dev.isola.server.auth.Confidential;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ImageService;
import dev.isola.server.error.Problem;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Body;
import dev.isola.server.route.Route.Response;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Routes for the images of the installation. Adding one requires the scope admin, because images
 * determine what runs in the sandboxes of other clients.
 */
record ImageRoutes(ImageService images) {
  static final String TEMPLATE = "/api/v1/images";
  static final Shape NAME_SHAPE = new Shape.NonEmptyText(128);
  static final Parameter NAME =
      Parameter.path(
          "name", NAME_SHAPE, "name: NAME, NAME:TAG or HOST~PATH~NAME:TAG; ~ stands for /");
  static final Shape IMAGE =
      new Shape.Obj(
              Field.required("name", Shapes.WORD, "name to use in a spec").example("base"),
              Field.required("createdAt", Shapes.TIME, "creation time"),
              Field.required("source", Shapes.TEXT, "source of the image").example("debian:12"),
              Field.required("digest", Shapes.TEXT, "digest of the list of its files")
                  .example("sha256:9f86d081884c7d65"),
              Field.required("size", Shapes.COUNT, "total size of its files in bytes")
                  .example(120_000_000),
              Field.required("files", Shapes.COUNT, "number of files, directories and links")
                  .example(9500),
              Field.required("architecture", Shapes.WORD, "such as amd64, or unknown")
                  .example("amd64"),
              Field.optional("user", Shapes.TEXT, "default user of commands"),
              Field.optional("workdir", Shapes.PATH, "default working directory of commands"),
              Field.required("env", Shapes.TEXTS, "environment of commands; *** below scope use"),
              Field.required("notes", new Shape.ListOf(Shapes.TEXT, 1000), "warnings of the import")
                  .example(List.of()))
          .named("Image");

  List<Route> routes() {
    return List.of(
        Route.of("GET", TEMPLATE, "listImages", "Lists images by name.")
            .answers(
                Response.json(
                    200,
                    new Shape.Obj(
                            Field.required("images", new Shape.ListOf(IMAGE, 100_000), "by name"))
                        .named("ImageList")))
            .handledBy(
                exchange ->
                    exchange.json(
                        200,
                        Map.of("images", images.list().stream().map(ImageRoutes::json).toList()))),
        Route.of("GET", TEMPLATE + "/{name}", "getImage", "Describes an image.")
            .takes(NAME)
            .answers(Response.json(200, IMAGE))
            .handledBy(exchange -> exchange.json(200, json(images.get(name(exchange))))),
        Route.of(
                "PUT",
                TEMPLATE + "/{name}",
                "importImage",
                "Creates an image from a tar archive of a root file system (plain, gzip, zstd, xz,"
                    + " bzip2). The image appears once the import is complete.")
            .needs(Scope.ADMIN)
            .takes(
                NAME,
                Parameter.query("replace", Shapes.FLAG, "replace an existing image; default false"))
            .takes(new Body.Stream("application/x-tar"))
            .answers(Response.json(200, IMAGE))
            .handledBy(
                exchange -> {
                  boolean replace = exchange.query("replace").equals(Optional.of("true"));
                  exchange.json(
                      200, json(images.importArchive(name(exchange), exchange.content(), replace)));
                }),
        Route.of(
                "POST",
                TEMPLATE,
                "pullImage",
                "Creates an image from a registry, or from an archive or OCI layout on the server's"
                    + " host. Streams progress events, then image or problem.")
            .needs(Scope.ADMIN)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.required("name", NAME_SHAPE, "name of the new image")
                            .example("debian"),
                        Field.required(
                                "source",
                                Shapes.PATH,
                                "oci:DIR[:TAG], docker-archive:FILE, debian:12, docker://HOST/...")
                            .example("docker-archive:/srv/images/debian.tar"),
                        Field.optional(
                            "replace", Shapes.FLAG, "replace an existing image; default false")),
                    true))
            .answers(Response.of("text/event-stream", "progress, then image or problem"))
            .handledBy(this::pull),
        Route.of(
                "DELETE",
                TEMPLATE + "/{name}",
                "removeImage",
                "Removes an image; fails while a sandbox uses it.")
            .needs(Scope.ADMIN)
            .takes(NAME)
            .handledBy(
                exchange -> {
                  images.remove(name(exchange));
                  exchange.noContent();
                }));
  }

  /** Returns the name in the path, where a slash is written as ~. */
  static String name(Exchange exchange) {
    return exchange.path("name").replace('~', '/');
  }

  private void pull(Exchange exchange) throws IOException {
    try (SseResponse sse = SseResponse.begin(exchange)) {
      AtomicReference<IOException> disconnected = new AtomicReference<>();
      try (var _ = exchange.interruptOnDisconnect()) {
        ImageService.ImageDetails image =
            images.pull(
                exchange.text("name"),
                exchange.text("source"),
                Boolean.TRUE.equals(exchange.body().get("replace")),
                step -> sendProgress(sse, step, disconnected));
        sse.send("image", "1", disclosed(image));
      } catch (SandboxException e) {
        sse.send("problem", "1", Problem.of(e, exchange.requestId()).body());
      }
    }
  }

  /**
   * Sends a progress event. Does not throw when the client has disconnected; the disconnect monitor
   * handles that.
   */
  private static void sendProgress(
      SseResponse sse, String step, AtomicReference<IOException> disconnected) {
    if (disconnected.get() == null) {
      try {
        synchronized (sse) {
          sse.send("progress", "0", Map.of("doing", step));
        }
      } catch (IOException e) {
        disconnected.set(e);
      }
    }
  }

  static Map<String, Object> json(ImageService.ImageDetails image) {
    Map<String, Object> json = disclosed(image);
    Map<String, Object> env = new LinkedHashMap<>();
    image.env().forEach((name, value) -> env.put(name, Confidential.content(value, Scope.USE)));
    json.put("env", env);
    return json;
  }

  /** Describes an image to a client with the scope admin. */
  static Map<String, Object> disclosed(ImageService.ImageDetails image) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", image.name());
    json.put("createdAt", image.createdAt().toString());
    json.put("source", image.source());
    json.put("digest", image.digest());
    json.put("size", image.size());
    json.put("files", image.files());
    json.put("architecture", image.architecture());
    image.user().ifPresent(user -> json.put("user", user));
    image.workdir().ifPresent(folder -> json.put("workdir", folder));
    json.put("env", image.env());
    json.put("notes", image.notes());
    return json;
  }
}
