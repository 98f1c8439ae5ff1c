package dev.isola.client;

import dev.isola.client.error.IsolaException;
import dev.isola.client.error.Problem;
import dev.isola.codec.json.MalformedJson;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
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

  /** Lists the images by name. */
  public List<ImageInfo> list() {
    return transport.get(ENDPOINT).list("images").stream().map(ImageInfo::read).toList();
  }

  public ImageInfo get(String name) {
    return ImageInfo.read(transport.get(ENDPOINT.resolve(name)));
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
            ENDPOINT.resolve(name).query("replace", replace),
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
    try (SseReader events = new SseReader(transport.postForEvents(ENDPOINT, body, STEP_TIMEOUT))) {
      for (Optional<SseReader.Event> event = events.next();
          event.isPresent();
          event = events.next()) {
        JsonFields fields = JsonFields.parse(event.get().data());
        switch (event.get().type()) {
          case "progress" -> progress.accept(fields.text("doing"));
          case "image" -> {
            return ImageInfo.read(fields);
          }
          case "problem" -> throw Execution.streamError(fields).exception();
          default -> {} // event type of a newer server
        }
      }
      throw lost("the stream ended", null);
    } catch (IOException | MalformedJson e) {
      throw lost(String.valueOf(e.getMessage()), e);
    }
  }

  private IsolaException lost(String reason, @Nullable Exception cause) {
    return Problem.clientSide(
            "OUTCOME_UNKNOWN",
            "the connection to " + transport.options().url() + " was lost: " + reason,
            "list the images before repeating the request")
        .exception(cause);
  }

  /** Removes an image. Fails while a sandbox uses it. */
  public void remove(String name) {
    transport.delete(ENDPOINT.resolve(name), REMOVE_TIMEOUT);
  }
}
