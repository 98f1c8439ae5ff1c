package dev.isola.provider.docker;

import dev.isola.codec.json.Json;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageStore;
import dev.isola.provider.docker.http.Answer;
import dev.isola.provider.docker.http.Deadline;
import dev.isola.provider.docker.http.EngineHttp;
import dev.isola.provider.docker.http.Request;
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

/** Finds, fetches and imports what sandboxes are made from. */
final class Images {
  /** A name at a registry, with a tag or a digest, or the engine's own id. */
  private static final Pattern NAME = Pattern.compile("[a-zA-Z0-9][a-zA-Z0-9._/:@-]{0,254}");

  private static final String TAR = "application/x-tar";
  private static final int DIGITS = 32;

  private final Engine engine;
  private final Settings settings;
  private final ImageStore store;
  private final List<Path> hidden;
  private final ReentrantLock importing = new ReentrantLock();
  private volatile HostImage.@Nullable Own own;

  /**
   * @param store Isola's own images
   * @param hidden folders of the server that no sandbox shall see
   */
  private Images(Engine engine, Settings settings, ImageStore store, List<Path> hidden) {
    this.engine = engine;
    this.settings = settings;
    this.store = store;
    this.hidden = hidden;
  }

  static Images of(Engine engine, Settings settings, ProviderContext context) {
    return new Images(
        engine,
        settings,
        new ImageStore(context.shared()),
        List.of(context.shared(), context.dataFolder()));
  }

  /**
   * Returns what a sandbox is made from, fetched or imported when the engine does not have it.
   *
   * @throws dev.isola.spi.error.NotFound with {@code IMAGE_NOT_FOUND}
   */
  ImageChoice choose(Optional<String> asked, Deadline deadline) {
    String name = asked.or(settings::image).orElse(HostImage.NAME);
    if (name.equals(HostImage.NAME)) {
      return host(deadline);
    }
    // The same name means the same image, whichever provider is asked.
    Optional<Image> ofIsola = store.find(name);
    if (ofIsola.isPresent()) {
      return imported(ofIsola.get(), deadline);
    }
    if (!NAME.matcher(name).matches()) {
      throw notFound(name, "that is no name of an image");
    }
    Optional<ImageChoice> there = engine.image(name).map(ImageChoice::of);
    if (there.isEmpty() && settings.pulls()) {
      pull(name, deadline);
      there = engine.image(name).map(ImageChoice::of);
    }
    return there.orElseThrow(() -> notFound(name, "the engine does not have it"));
  }

  /** Returns the digest of what {@link #choose} would return; empty when it is not there yet. */
  Optional<String> digest(Optional<String> asked) {
    Optional<String> name = asked.or(settings::image).filter(one -> !one.equals(HostImage.NAME));
    return name.flatMap(store::find)
        .map(Image::digest)
        .or(
            () ->
                name.filter(one -> NAME.matcher(one).matches())
                    .flatMap(engine::image)
                    .map(ImageChoice::of)
                    .map(ImageChoice::id));
  }

  private ImageChoice host(Deadline deadline) {
    if (!engine.http().address().local()) {
      throw Fault.of(
              ErrorCode.INVALID_SPEC,
              "an engine at " + engine.http().address() + " does not see this machine's root",
              "name an image, in the spec or as the provider's setting image")
          .exception();
    }
    HostImage.Own wanted = own();
    return imported(wanted.name(), () -> Request.bytes(TAR, wanted.archive().toArray()), deadline)
        .with(HostImage.mounts(hidden));
  }

  /** One of Isola's own, which the engine is given once, under the name of what is in it. */
  private ImageChoice imported(Image image, Deadline deadline) {
    String digest = image.digest().substring(image.digest().indexOf(':') + 1);
    String name = "isola-image-" + digest.substring(0, Math.min(DIGITS, digest.length()));
    return imported(name, () -> new RootArchive(image), deadline)
        .as(image.digest(), image.env(), image.user());
  }

  /** Returns what the engine has under that name, after it was given it when it had nothing. */
  private ImageChoice imported(String name, Supplier<Request.Body> archive, Deadline deadline) {
    importing.lock();
    try {
      Optional<ImageChoice> there = engine.image(name).map(ImageChoice::of);
      if (there.isEmpty()) {
        engine.need(
            engine
                .http()
                .ask(
                    new Request(
                        "POST",
                        "/images/create?fromSrc=-&repo=" + name,
                        Optional.of(archive.get())),
                    deadline),
            "importing the image " + name);
        there = engine.image(name).map(ImageChoice::of);
      }
      return there.orElseThrow(() -> notFound(name, "it was imported and is not there"));
    } finally {
      importing.unlock();
    }
  }

  private HostImage.Own own() {
    HostImage.Own known = own;
    if (known == null) {
      try {
        known = HostImage.own();
        own = known;
      } catch (IOException e) {
        throw Fault.of(
                ErrorCode.PROVIDER_UNAVAILABLE,
                "the host's root cannot be made an image: " + e.getMessage(),
                "name an image, in the spec or as the provider's setting image")
            .exception(e);
      }
    }
    return known;
  }

  /** Fetches an image. The engine tells of its progress line by line, and of its failure, too. */
  private void pull(String name, Deadline deadline) {
    Request request = Request.post("/images/create?fromImage=" + Engine.encoded(tagged(name)));
    PullProgress progress = new PullProgress();
    try (EngineHttp.Cancel cancel = new EngineHttp.Cancel()) {
      Answer answer = engine.http().stream(request, deadline, cancel, progress::read);
      if (!answer.ok()) {
        throw answer.status() == 404
            ? notFound(name, Engine.message(answer))
            : unfetchable(name, Engine.message(answer), answer);
      }
    } catch (OutcomeUnknown e) { // of the image, which is asked for again; no sandbox was begun
      throw Fault.of(
              deadline.over() ? ErrorCode.DEADLINE_EXCEEDED : ErrorCode.PROVIDER_UNAVAILABLE,
              "fetching the image " + name + " did not end: " + progress + "; " + e.fault().what(),
              "try again, for what is here is not fetched twice; raise startupTimeout, or fetch it"
                  + " beforehand (docker pull)")
          .with("image", name)
          .exception(e);
    }
    if (!progress.problem().isEmpty()) {
      throw unfetchable(name, progress.problem(), new Answer(200, Bytes.utf8("")));
    }
  }

  /** Without a tag the engine would fetch all there are. */
  private static String tagged(String name) {
    int slash = name.lastIndexOf('/');
    boolean plain = name.indexOf(':', slash + 1) < 0 && name.indexOf('@') < 0;
    return plain ? name + ":latest" : name;
  }

  private static SandboxException unfetchable(String name, String why, Answer answer) {
    String lower = why.toLowerCase(Locale.ROOT);
    if (lower.contains("no space left")) {
      return Engine.refused(
          answer.ok() ? new Answer(500, Bytes.of(Json.bytes(Json.object("message", why)))) : answer,
          "fetching the image " + name);
    }
    return notFound(name, "it cannot be fetched: " + why);
  }

  private static SandboxException notFound(String name, String why) {
    return Fault.of(
            ErrorCode.IMAGE_NOT_FOUND,
            "there is no image " + name + ": " + why,
            "see docker image ls for what there is, or load it (docker load, docker import)")
        .with("image", name)
        .exception();
  }
}
