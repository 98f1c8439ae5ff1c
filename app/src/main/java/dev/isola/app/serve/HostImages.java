package dev.isola.app.serve;

import dev.isola.host.image.DebianRecipe;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageSource;
import dev.isola.host.image.ImageStore;
import dev.isola.host.image.Limits;
import dev.isola.server.context.Images;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** The images in the data folder, for the server. */
record HostImages(ImageStore store) implements Images {

  @Override
  public List<Stored> list() {
    return store.list().stream().map(HostImages::stored).toList();
  }

  @Override
  public Stored need(String name) {
    return stored(store.need(name));
  }

  @Override
  public Stored add(String name, InputStream archive, boolean replace) {
    return add(name, ImageSource.tar(archive, "the API"), replace, words -> {});
  }

  @Override
  public Stored pull(String name, String source, boolean replace, Consumer<String> progress) {
    return add(name, ImageSource.reference(source), replace, progress);
  }

  @Override
  public Stored base(Consumer<String> progress) {
    DebianRecipe recipe =
        DebianRecipe.of(DebianRecipe.BASE_FROM, List.of(), DebianRecipe.VARIANT, Optional.empty());
    return add(BASE, ImageSource.debian(recipe.asBase()), false, progress);
  }

  private Stored add(String name, ImageSource source, boolean replace, Consumer<String> progress) {
    return stored(
        store.add(name, source, new ImageStore.Adding(Limits.DEFAULT, replace, progress)));
  }

  @Override
  public void remove(String name) {
    store.remove(name);
  }

  private static Stored stored(Image image) {
    return new Stored(
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
