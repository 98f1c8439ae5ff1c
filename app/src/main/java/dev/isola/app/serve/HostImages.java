package dev.isola.app.serve;

import dev.isola.host.image.DebianRecipe;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageLimits;
import dev.isola.host.image.ImageSource;
import dev.isola.host.image.ImageStore;
import dev.isola.server.context.ImageService;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Gives the server access to the images in the data folder. */
record HostImages(ImageStore store) implements ImageService {

  @Override
  public List<ImageDetails> list() {
    return store.list().stream().map(HostImages::stored).toList();
  }

  @Override
  public ImageDetails get(String name) {
    return stored(store.require(name));
  }

  @Override
  public ImageDetails importArchive(String name, InputStream archive, boolean replace) {
    return add(name, ImageSource.tar(archive, "the API"), replace, line -> {});
  }

  @Override
  public ImageDetails pull(String name, String source, boolean replace, Consumer<String> progress) {
    return add(name, ImageSource.reference(source), replace, progress);
  }

  @Override
  public Set<String> ready() {
    return DebianRecipe.READY.keySet();
  }

  @Override
  public ImageDetails buildReady(
      String name, String ready, boolean replace, Consumer<String> progress) {
    DebianRecipe recipe =
        DebianRecipe.of(DebianRecipe.BASE_FROM, List.of(), DebianRecipe.VARIANT, Optional.empty());
    return add(name, ImageSource.debian(recipe.asReady(ready)), replace, progress);
  }

  private ImageDetails add(
      String name, ImageSource source, boolean replace, Consumer<String> progress) {
    return stored(
        store.add(name, source, new ImageStore.AddOptions(ImageLimits.DEFAULT, replace, progress)));
  }

  @Override
  public void remove(String name) {
    store.remove(name);
  }

  private static ImageDetails stored(Image image) {
    return new ImageDetails(
        image.name(),
        image.createdAt(),
        image.source(),
        image.digest(),
        image.size(),
        image.files(),
        image.architecture(),
        image.user(),
        image.workdir(),
        image.env(),
        image.notes());
  }
}
