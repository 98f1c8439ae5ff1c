package dev.isola.client;

import dev.isola.client.error.IsolaException;
import dev.isola.client.error.Problem;
import dev.isola.codec.json.MalformedJson;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Images of a server. To create a sandbox from an image, name it in the spec. Adding and removing
 * images requires a key with scope admin.
 */
public final class Images {
  private static final Duration REMOVE_TIMEOUT = Duration.ofMinutes(5);

  /** Maximum time between two steps of a pull. */
  private static final Duration STEP_TIMEOUT = Duration.ofMinutes(30);

  private static final ApiPath ENDPOINT = ApiPath.of("images");
  private final Transport transport;

  Images(Transport transport) {
    this.transport = transport;
  }

  /** Returns the path of an image, in which ~ stands for a slash of its name. */
  private static ApiPath endpoint(String name) {
    return ENDPOINT.resolve(name.replace('/', '~'));
  }

  /** Lists the images by name. */
  public List<ImageInfo> list() {
    return transport.get(ENDPOINT).list("images").stream().map(ImageInfo::read).toList();
  }

  public ImageInfo get(String name) {
    return ImageInfo.read(transport.get(endpoint(name)));
  }

  /**
   * Creates an image from a tar archive of a root file system, plain or compressed. Does not close
   * the stream.
   *
   * @param replace whether to replace an existing image
   */
  public ImageInfo importArchive(String name, InputStream archive, boolean replace) {
    CountingInputStream counted = new CountingInputStream(archive, bytes -> {});
    return ImageInfo.read(
        transport.upload(
            "PUT",
            endpoint(name).query("replace", replace),
            "application/x-tar",
            BodyPublishers.ofInputStream(() -> counted),
            counted::count));
  }

  /**
   * Creates an image from a registry, or from an archive on the server's host, and waits until it
   * is complete.
   *
   * @param source such as {@code debian:12}, {@code docker://HOST/NAME:TAG} or {@code
   *     docker-archive:FILE}
   * @param replace whether to replace an existing image
   * @param progress receives a line for each step
   */
  public ImageInfo pull(String name, String source, boolean replace, Consumer<String> progress) {
    Map<String, Object> body = Map.of("name", name, "source", source, "replace", replace);
    return follow(
        ENDPOINT, body, STEP_TIMEOUT, event -> progress.accept(event.text("doing")), "progress");
  }

  /** Sends a request and passes on the events of one type until the image is complete. */
  private ImageInfo follow(
      ApiPath endpoint,
      Map<String, ?> body,
      Duration idleTimeout,
      Consumer<JsonFields> consumer,
      String type) {
    try (SseReader events = new SseReader(transport.postForEvents(endpoint, body, idleTimeout))) {
      for (Optional<SseReader.Event> event = events.next();
          event.isPresent();
          event = events.next()) {
        JsonFields fields = JsonFields.parse(event.get().data());
        if (event.get().type().equals(type)) {
          consumer.accept(fields);
        } else if (event.get().type().equals("image")) {
          return ImageInfo.read(fields);
        } else if (event.get().type().equals("problem")) {
          throw problem(fields).exception();
        } // else an event type of a newer server
      }
      throw lost("the stream ended", null);
    } catch (IOException | MalformedJson e) {
      throw lost(String.valueOf(e.getMessage()), e);
    }
  }

  private static Problem problem(JsonFields fields) {
    Problem problem = Execution.streamError(fields);
    return new Problem(
        problem.code(),
        problem.category(),
        problem.status(),
        problem.detail(),
        problem.remedy(),
        problem.sandbox(),
        fields.optionalText("requestId").orElse(""),
        fields.stringMap("context"));
  }

  private IsolaException lost(String reason, @Nullable Exception cause) {
    return Problem.clientSide(
            "OUTCOME_UNKNOWN",
            "the connection to " + transport.options().url() + " was lost: " + reason,
            "list the images before repeating the request")
        .exception(cause);
  }

  /**
   * Builds an image from a recipe and waits until it is complete. Archives and uploads the files of
   * its copy steps first, unless the server already has them.
   *
   * @param folder that copy paths are relative to; its {@code .dockerignore} is respected
   * @param log receives the lines of the log
   * @throws dev.isola.client.error.InvalidRequest with {@code BUILD_FAILED} if a step fails
   * @throws IOException if a file to copy cannot be read
   */
  public ImageInfo build(
      String name,
      TemplateRecipe recipe,
      Path folder,
      ImageBuildOptions options,
      Consumer<TemplateBuild.Line> log)
      throws IOException {
    Map<String, Object> body = new HashMap<>();
    body.put("recipe", new Templates(transport).withUploads(recipe, folder).document());
    body.put("replace", options.replace());
    if (!options.provider().isEmpty()) {
      body.put("provider", options.provider());
    }
    if (!options.network().isEmpty()) {
      body.put("network", options.network());
    }
    return build(name, body, log);
  }

  /**
   * Builds an image that the server has a recipe for.
   *
   * @param ready base, python, node, java or full
   */
  public ImageInfo buildReady(
      String name, String ready, boolean replace, Consumer<TemplateBuild.Line> log) {
    return build(name, Map.of("ready", ready, "replace", replace), log);
  }

  private ImageInfo build(String name, Map<String, ?> body, Consumer<TemplateBuild.Line> log) {
    return follow(
        endpoint(name).resolve("builds"),
        body,
        Transport.IDLE_TIMEOUT,
        event -> log.accept(TemplateBuild.Line.read(event)),
        "line");
  }

  /**
   * Makes an image of the files of a sandbox, without its volumes.
   *
   * @param replace whether to replace an existing image
   */
  public ImageInfo commit(String sandbox, String name, boolean replace) {
    return ImageInfo.read(
        transport.post(
            ApiPath.of("sandboxes", sandbox, "commit"),
            Map.of("image", name, "replace", replace),
            STEP_TIMEOUT));
  }

  /** Removes an image. Fails while a sandbox uses it. */
  public void remove(String name) {
    transport.delete(endpoint(name), REMOVE_TIMEOUT);
  }
}
