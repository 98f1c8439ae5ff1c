package dev.isola.app.serve;

import dev.isola.codec.digest.Sha256;
import dev.isola.engine.api.TemplateImages;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageLayer;
import dev.isola.host.image.ImageLimits;
import dev.isola.host.image.ImageSource;
import dev.isola.host.image.ImageStore;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.NotFound;
import java.io.InputStream;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;

/** Gives template builds access to the images in the data folder. */
public record HostTemplateImages(ImageStore store) implements TemplateImages {
  private static final String PULLED_PREFIX = "from-";
  private static final int MAX_PLAIN_LENGTH = 16;
  private static final int HASH_DIGITS = 40;

  @Override
  public Optional<StoredImage> find(String name) {
    return store.find(name).map(HostTemplateImages::stored);
  }

  private static StoredImage stored(Image image) {
    return new StoredImage(
        image.digest(), image.env(), image.user().orElse(""), image.workdir().orElse(""));
  }

  @Override
  public void checkCanAdd(String name, boolean replace) {
    store.checkCanAdd(name, replace);
  }

  @Override
  public void add(String name, InputStream archive, NewImage metadata) {
    store.add(
        name,
        ImageSource.tar(
            archive, metadata.source(), metadata.env(), metadata.user(), metadata.cwd()),
        new ImageStore.AddOptions(ImageLimits.DEFAULT, metadata.replace(), line -> {}));
  }

  @Override
  public void addLayer(String name, Layer layer, NewImage metadata) {
    store.add(
        name,
        ImageSource.layer(
            new ImageLayer(
                store.require(layer.base()), layer.emptied(), layer.replaced(), layer.changes()),
            metadata.source(),
            metadata.env(),
            metadata.user(),
            metadata.cwd()),
        new ImageStore.AddOptions(ImageLimits.DEFAULT, metadata.replace(), line -> {}));
  }

  @Override
  public boolean hasUser(String image, String user) {
    return store.hasUser(image, user);
  }

  @Override
  public String pull(String reference, Consumer<String> progress) {
    HostImages images = new HostImages(store);
    boolean ready = images.ready().contains(reference);
    String name = ready ? reference : name(reference);
    if (store.find(name).isEmpty()) {
      progress.accept((ready ? "building " : "pulling ") + reference);
      try {
        if (ready) {
          images.buildReady(name, name, false, progress);
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

  /**
   * Returns the name of a pulled image: the reference, unless it is not a valid name. Otherwise the
   * name contains a hash of the whole reference, so that two references never share an image.
   */
  static String name(String reference) {
    if (ImageStore.isValidName(reference)) {
      return reference;
    }
    String plain = reference.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9._-]", "-");
    return PULLED_PREFIX
        + (plain.length() > MAX_PLAIN_LENGTH ? plain.substring(0, MAX_PLAIN_LENGTH) : plain)
        + "-"
        + Sha256.hex(reference).substring(0, HASH_DIGITS);
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
