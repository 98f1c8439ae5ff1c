package dev.isola.server.api;

import dev.isola.server.auth.Scope;
import dev.isola.server.context.Images;
import dev.isola.server.error.Problem;
import dev.isola.server.route.Exchange;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Route;
import dev.isola.server.route.Route.Answer;
import dev.isola.server.route.Route.Body;
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
 * The images of the installation. Who may add one decides what runs in other people's sandboxes.
 */
record ImageRoutes(Images images) {
  private static final String TEMPLATE = "/api/v1/images";
  private static final Shape NAME_SHAPE = new Shape.Filled(63);
  private static final Parameter NAME =
      Parameter.path("name", NAME_SHAPE, "1 to 63 of a-z 0-9 . _ -");
  private static final Shape IMAGE =
      new Shape.Obj(
          Field.needed("name", Shapes.WORD, "for a spec's image"),
          Field.needed("createdAt", Shapes.TIME, "when it was made here"),
          Field.needed("source", Shapes.TEXT, "where it came from"),
          Field.needed("digest", Shapes.TEXT, "of the list of everything in it"),
          Field.needed("size", Shapes.COUNT, "bytes in its files"),
          Field.needed("files", Shapes.COUNT, "files, folders and links"),
          Field.needed("architecture", Shapes.WORD, "such as amd64, or unknown"),
          Field.of("user", Shapes.TEXT, "who runs commands unless told otherwise"),
          Field.of("workdir", Shapes.PATH, "where commands run unless told otherwise"),
          Field.needed("env", Shapes.TEXTS, "variables of its commands"),
          Field.needed(
              "notes", new Shape.ListOf(Shapes.TEXT, 1000), "what was changed on the way in"));

  List<Route> routes() {
    return List.of(
        Route.of("GET", TEMPLATE, "listImages", "Lists the images by name.")
            .answers(
                Answer.json(
                    200,
                    new Shape.Obj(
                        Field.needed("images", new Shape.ListOf(IMAGE, 100_000), "by name"))))
            .by(
                exchange ->
                    exchange.json(
                        200,
                        Map.of("images", images.list().stream().map(ImageRoutes::json).toList()))),
        Route.of("GET", TEMPLATE + "/{name}", "getImage", "Describes an image.")
            .takes(NAME)
            .answers(Answer.json(200, IMAGE))
            .by(exchange -> exchange.json(200, json(images.need(exchange.path("name"))))),
        Route.of(
                "PUT",
                TEMPLATE + "/{name}",
                "importImage",
                "Makes an image of a tar archive with a root file system (plain, gzip, zstd, xz,"
                    + " bzip2). It appears when it is whole.")
            .needs(Scope.ADMIN)
            .takes(NAME, Parameter.query("replace", Shapes.FLAG, "one that has the name; false"))
            .takes(new Body.Stream("application/x-tar"))
            .answers(Answer.json(200, IMAGE))
            .by(
                exchange -> {
                  boolean replace = exchange.query("replace").equals(Optional.of("true"));
                  exchange.json(
                      200, json(images.add(exchange.path("name"), exchange.content(), replace)));
                }),
        Route.of(
                "POST",
                TEMPLATE,
                "pullImage",
                "Makes an image of what a registry, an archive or an OCI layout of the server's"
                    + " machine holds: progress in words; at the end image or problem.")
            .needs(Scope.ADMIN)
            .takes(
                new Body.Json(
                    new Shape.Obj(
                        Field.needed("name", NAME_SHAPE, "what it is to be called"),
                        Field.needed(
                            "source",
                            Shapes.PATH,
                            "oci:DIR[:TAG], docker-archive:FILE, debian:12, docker://HOST/..."),
                        Field.of("replace", Shapes.FLAG, "one that has the name; false")),
                    true))
            .answers(Answer.of("text/event-stream", "progress, then image or problem"))
            .by(this::pull),
        Route.of(
                "DELETE",
                TEMPLATE + "/{name}",
                "removeImage",
                "Removes an image; not while a sandbox stands on it.")
            .needs(Scope.ADMIN)
            .takes(NAME)
            .by(
                exchange -> {
                  images.remove(exchange.path("name"));
                  exchange.empty();
                }));
  }

  private void pull(Exchange exchange) throws IOException {
    try (Sse sse = Sse.begin(exchange)) {
      AtomicReference<IOException> gone = new AtomicReference<>();
      try (var _ = exchange.whileWanted()) {
        Images.Stored image =
            images.pull(
                exchange.text("name"),
                exchange.text("source"),
                Boolean.TRUE.equals(exchange.body().get("replace")),
                words -> say(sse, words, gone));
        sse.send("image", "1", json(image));
      } catch (SandboxException e) {
        sse.send("problem", "1", Problem.of(e, exchange.requestId()).body());
      }
    }
  }

  /** Who does not listen any more is noticed by who watches the connection. */
  private static void say(Sse sse, String words, AtomicReference<IOException> gone) {
    if (gone.get() == null) {
      try {
        synchronized (sse) {
          sse.send("progress", "0", Map.of("doing", words));
        }
      } catch (IOException e) {
        gone.set(e);
      }
    }
  }

  private static Map<String, Object> json(Images.Stored image) {
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
