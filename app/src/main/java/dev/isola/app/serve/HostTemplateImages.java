package dev.isola.app.serve;

import dev.isola.engine.template.TemplateImages;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageStore;
import dev.isola.server.context.ImageService;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.NotFound;
import java.io.InputStream;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;

/** Gives template builds access to the images in the data folder. */
record HostTemplateImages(ImageStore store) implements TemplateImages {
  private static final String PULLED_PREFIX = "from-";
  private static final int MAX_NAME_LENGTH = 63;

  @Override
  public Optional<StoredImage> find(String name) {
    return store.find(name).map(HostTemplateImages::stored);
  }

  private static StoredImage stored(Image image) {
    return new StoredImage(
        image.digest(), image.env(), image.user().orElse(""), image.workdir().orElse(""));
  }

  @Override
  public void add(String name, InputStream archive) {
    new HostImages(store).importArchive(name, archive, false);
  }

  @Override
  public String pull(String reference, Consumer<String> progress) {
    boolean base = reference.equals(ImageService.BASE);
    String name = base ? reference : name(reference);
    if (store.find(name).isEmpty()) {
      HostImages images = new HostImages(store);
      progress.accept((base ? "building " : "pulling ") + reference);
      try {
        if (base) {
          images.buildBase(progress);
        } else {
          images.pull(name, reference, false, progress);
        }
      } catch (Conflict e) {
        if (store.find(name).isEmpty()) {
          throw e;
        } // a concurrent build added it
      }
    }
    return name;
  }

  private static String name(String reference) {
    String name =
        PULLED_PREFIX + reference.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9._-]", "-");
    return name.length() > MAX_NAME_LENGTH ? name.substring(0, MAX_NAME_LENGTH) : name;
  }

  @Override
  public void remove(String name) {
    try {
      store.remove(name);
    } catch (NotFound already) {
      // already removed
    }
  }
}
