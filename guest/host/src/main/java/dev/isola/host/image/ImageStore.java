package dev.isola.host.image;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The images of an installation, each a folder {@code images/NAME} with its {@code rootfs}, its
 * {@code image.properties} and {@code used-by}: one mark for each sandbox that stands on it.
 *
 * <p>Any number of processes may use it at once. An image appears whole and is never changed.
 */
public final class ImageStore {
  private final Path folder;
  private final ImageUses uses = new ImageUses();

  /**
   * @param shared the folder of what all providers of an installation share
   */
  public ImageStore(Path shared) {
    this.folder = shared.resolve("images");
  }

  /** Returns the image of that name; empty when there is none. */
  public Optional<Image> find(String name) {
    if (!ImageName.isValid(name)) {
      return Optional.empty();
    }
    try {
      return ImageRecord.read(folder.resolve(name));
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /**
   * Returns the image of that name.
   *
   * @throws dev.isola.spi.error.NotFound with {@code IMAGE_NOT_FOUND}, how to get it, and names
   *     that are near
   */
  public Image need(String name) {
    return find(name).orElseThrow(() -> ImageName.notFound(name, names()));
  }

  /** Returns all images by name; one that cannot be read is left out. */
  public List<Image> list() {
    List<Image> images = new ArrayList<>();
    for (String name : names()) {
      try {
        ImageRecord.read(folder.resolve(name)).ifPresent(images::add);
      } catch (IOException damaged) {
        // find() says what is wrong with it
      }
    }
    return images;
  }

  /**
   * Notes that a sandbox stands on an image, which cannot be removed from then on until {@link
   * #release}, or until {@code sandboxFolder} is gone. Called before the image is mounted; may be
   * repeated.
   *
   * @throws dev.isola.spi.error.NotFound as {@link #need}
   */
  public Image use(String name, SandboxId sandbox, Path sandboxFolder) {
    Image image = need(name);
    try {
      uses.add(folder.resolve(name), sandbox, sandboxFolder);
      return image;
    } catch (NoSuchFileException | NotDirectoryException removed) {
      throw ImageName.notFound(name, names());
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /** Takes the note of {@link #use} back. May be repeated; an image that is gone is no error. */
  public void release(String name, SandboxId sandbox) {
    try {
      if (ImageName.isValid(name)) {
        uses.remove(folder.resolve(name), sandbox);
      }
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  private List<String> names() {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      for (Path entry : entries) {
        String name = entry.getFileName().toString();
        if (ImageName.isValid(name) && Files.exists(entry.resolve(ImageRecord.FILE))) {
          names.add(name);
        }
      }
    } catch (NoSuchFileException none) {
      return List.of();
    } catch (IOException e) {
      throw unusable(e);
    }
    names.sort(Comparator.naturalOrder());
    return names;
  }

  private SandboxException unusable(IOException e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the images in " + folder + " cannot be used: " + e.getMessage(),
            "check the rights of that folder and the disk")
        .exception(e);
  }
}
