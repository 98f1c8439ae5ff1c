package dev.isola.provider.docker;

import dev.isola.codec.http.HttpRequest;
import dev.isola.codec.json.Json;
import dev.isola.codec.time.Deadline;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageStore;
import dev.isola.provider.docker.http.EngineHttp;
import dev.isola.provider.docker.http.EngineResponse;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderContext;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds, pulls and imports images. */
final class DockerImages {
  /** A name in a registry with a tag or digest, or an image id. */
  private static final Pattern NAME = Pattern.compile("[a-zA-Z0-9][a-zA-Z0-9._/:@-]{0,254}");

  private static final String TAR = "application/x-tar";
  private static final int DIGITS = 32;

  private final EngineApi engine;
  private final DockerProviderSettings settings;
  private final ImageStore store;
  private final List<Path> hidden;
  private final ReentrantLock importing = new ReentrantLock();
  private volatile HostImage.@Nullable BaseArchive own;

  /**
   * @param store Isola's own images
   * @param hidden folders of the server that no sandbox may see
   */
  private DockerImages(
      EngineApi engine, DockerProviderSettings settings, ImageStore store, List<Path> hidden) {
    this.engine = engine;
    this.settings = settings;
    this.store = store;
    this.hidden = hidden;
  }

  static DockerImages of(
      EngineApi engine, DockerProviderSettings settings, ProviderContext context) {
    return new DockerImages(
        engine,
        settings,
        new ImageStore(context.sharedFolder()),
        List.of(context.sharedFolder(), context.dataFolder()));
  }

  /**
   * Returns the image for a sandbox, pulling or importing it if the engine does not have it.
   *
   * @throws dev.isola.spi.error.NotFound with {@code IMAGE_NOT_FOUND}
   */
  ResolvedImage resolve(Optional<String> asked, Deadline deadline) {
    String name = asked.or(settings::image).orElse(HostImage.NAME);
    if (name.equals(HostImage.NAME)) {
      return host(deadline);
    }
    // A name refers to the same image with every provider.
    Optional<Image> ofIsola = store.find(name);
    if (ofIsola.isPresent()) {
      return imported(ofIsola.get(), deadline);
    }
    if (!NAME.matcher(name).matches()) {
      throw notFound(name, "not a valid image name");
    }
    Optional<ResolvedImage> there = engine.image(name).map(ResolvedImage::of);
    if (there.isEmpty() && settings.pullsImages()) {
      pull(name, deadline);
      there = engine.image(name).map(ResolvedImage::of);
    }
    return there.orElseThrow(() -> notFound(name, "the engine does not have it"));
  }

  /**
   * Returns the digest of the image that {@link #resolve} would return; empty if it is not
   * available yet.
   */
  Optional<String> digest(Optional<String> asked) {
    Optional<String> name = asked.or(settings::image).filter(one -> !one.equals(HostImage.NAME));
    return name.flatMap(store::find)
        .map(Image::digest)
        .or(
            () ->
                name.filter(one -> NAME.matcher(one).matches())
                    .flatMap(engine::image)
                    .map(ResolvedImage::of)
                    .map(ResolvedImage::id));
  }

  private ResolvedImage host(Deadline deadline) {
    if (!engine.http().address().local()) {
      throw Fault.of(
              ErrorCode.INVALID_SPEC,
              "an engine at " + engine.http().address() + " cannot access this host's root",
              "name an image in the spec or in the provider's setting image")
          .exception();
    }
    HostImage.BaseArchive wanted = hostArchive();
    return imported(
            wanted.name(), () -> HttpRequest.bytes(TAR, wanted.archive().toArray()), deadline)
        .withMounts(HostImage.mounts(hidden));
  }

  /** Imports one of Isola's images into the engine, once per content. */
  private ResolvedImage imported(Image image, Deadline deadline) {
    String digest = image.digest().substring(image.digest().indexOf(':') + 1);
    String name = "isola-image-" + digest.substring(0, Math.min(DIGITS, digest.length()));
    return imported(name, () -> new RootArchive(image), deadline)
        .withMetadata(image.digest(), image.env(), image.user());
  }

  /** Returns the engine's image of that name, importing it first if needed. */
  private ResolvedImage imported(
      String name, Supplier<HttpRequest.Body> archive, Deadline deadline) {
    importing.lock();
    try {
      Optional<ResolvedImage> there = engine.image(name).map(ResolvedImage::of);
      if (there.isEmpty()) {
        engine.requireSuccess(
            engine
                .http()
                .send(
                    new HttpRequest(
                        "POST",
                        "/images/create?fromSrc=-&repo=" + name,
                        Optional.of(archive.get())),
                    deadline),
            "importing the image " + name);
        there = engine.image(name).map(ResolvedImage::of);
      }
      return there.orElseThrow(() -> notFound(name, "it is missing after the import"));
    } finally {
      importing.unlock();
    }
  }

  private HostImage.BaseArchive hostArchive() {
    HostImage.BaseArchive known = own;
    if (known == null) {
      try {
        known = HostImage.baseArchive();
        own = known;
      } catch (IOException e) {
        throw Fault.of(
                ErrorCode.PROVIDER_UNAVAILABLE,
                "the host's root cannot be imported as an image: " + e.getMessage(),
                "name an image in the spec or in the provider's setting image")
            .exception(e);
      }
    }
    return known;
  }

  /** Pulls an image. The engine reports progress and failure line by line. */
  private void pull(String name, Deadline deadline) {
    HttpRequest request =
        HttpRequest.post("/images/create?fromImage=" + EngineApi.encoded(tagged(name)));
    PullProgress progress = new PullProgress();
    try (EngineHttp.Cancellation cancel = new EngineHttp.Cancellation()) {
      EngineResponse response = engine.http().stream(request, deadline, cancel, progress::read);
      if (!response.ok()) {
        throw response.status() == 404
            ? notFound(name, EngineApi.message(response))
            : pullFailed(name, EngineApi.message(response), response);
      }
    } catch (OutcomeUnknown e) { // No sandbox was created; the pull can be retried.
      throw Fault.of(
              deadline.over() ? ErrorCode.DEADLINE_EXCEEDED : ErrorCode.PROVIDER_UNAVAILABLE,
              "pulling the image "
                  + name
                  + " did not finish: "
                  + progress
                  + "; "
                  + e.fault().problem(),
              "retry, because layers that were pulled are kept; raise startupTimeout, or pull it"
                  + " beforehand (docker pull)")
          .with("image", name)
          .exception(e);
    }
    if (!progress.problem().isEmpty()) {
      throw pullFailed(name, progress.problem(), new EngineResponse(200, Bytes.utf8("")));
    }
  }

  /** Adds the default tag, because without one the engine pulls all tags. */
  private static String tagged(String name) {
    int slash = name.lastIndexOf('/');
    boolean plain = name.indexOf(':', slash + 1) < 0 && name.indexOf('@') < 0;
    return plain ? name + ":latest" : name;
  }

  private static SandboxException pullFailed(String name, String why, EngineResponse response) {
    String lower = why.toLowerCase(Locale.ROOT);
    if (lower.contains("no space left")) {
      return EngineApi.refused(
          response.ok()
              ? new EngineResponse(500, Bytes.of(Json.bytes(Json.object("message", why))))
              : response,
          "pulling the image " + name);
    }
    return notFound(name, "the pull failed: " + why);
  }

  private static SandboxException notFound(String name, String why) {
    return Fault.of(
            ErrorCode.IMAGE_NOT_FOUND,
            "no such image: " + name + ": " + why,
            "list the images with docker image ls, or load it (docker load, docker import)")
        .with("image", name)
        .exception();
  }
}
