package dev.isola.engine.api.template;

import dev.isola.engine.api.TemplateImages;
import dev.isola.host.image.ImageLayer;
import dev.isola.host.image.ImageLimits;
import dev.isola.host.image.ImageSource;
import dev.isola.host.image.ImageStore;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** An image store in a folder with a busybox image and no registry. */
public record StoreImages(ImageStore store) implements TemplateImages {
  /** The name of the busybox image. */
  public static final String SMALL = "small";

  private static final Path BUSYBOX = Path.of("/bin/busybox");

  /** Returns an empty image store in a folder; empty if busybox is not installed. */
  public static Optional<StoreImages> in(Path shared) {
    return Files.exists(BUSYBOX)
        ? Optional.of(new StoreImages(new ImageStore(shared)))
        : Optional.empty();
  }

  /** Adds the busybox image unless it exists. */
  public StoreImages withSmall(Path scratch) throws IOException {
    if (store.find(SMALL).isPresent()) {
      return this;
    }
    Path root = busyboxRoot(scratch.resolve("small-root"));
    Files.writeString(
        root.resolve("etc/passwd"),
        "root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n");
    Files.writeString(root.resolve("etc/group"), "root:x:0:\nuser:x:1000:\n");
    store.importFrom(SMALL, root);
    return this;
  }

  /** Creates a root with busybox and without a list of users. */
  public static Path busyboxRoot(Path root) throws IOException {
    for (String folder : List.of("bin", "etc", "home/user", "root", "tmp")) {
      Files.createDirectories(root.resolve(folder));
    }
    Files.copy(BUSYBOX, root.resolve("bin/busybox"));
    for (String program :
        "sh cat chmod chown cp dirname echo head id ls mkdir mv pwd rm seq sleep stat true"
            .split(" ")) {
      Files.createSymbolicLink(root.resolve("bin").resolve(program), Path.of("busybox"));
    }
    return root;
  }

  /** Returns the names of all images. */
  public List<String> names() {
    return store.list().stream().map(one -> one.name()).toList();
  }

  @Override
  public Optional<StoredImage> find(String name) {
    return store
        .find(name)
        .map(
            image ->
                new StoredImage(
                    image.digest(),
                    image.env(),
                    image.user().orElse(""),
                    image.workdir().orElse("")));
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
        new ImageStore.AddOptions(ImageLimits.DEFAULT, metadata.replace(), words -> {}));
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
        new ImageStore.AddOptions(ImageLimits.DEFAULT, metadata.replace(), words -> {}));
  }

  @Override
  public boolean hasUser(String image, String user) {
    return store.hasUser(image, user);
  }

  @Override
  public String pull(String reference, Consumer<String> progress) {
    throw Fault.of(ErrorCode.IMAGE_NOT_FOUND, "no registry has " + reference, "add it").exception();
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
