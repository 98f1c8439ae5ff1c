package dev.isola.host.image;

import dev.isola.host.UsageReferences;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The images of an installation, each a folder {@code images/NAME} ({@code /} and {@code :} of a
 * name are {@code %} and {@code @} there) with {@code rootfs}, {@code image.properties} and {@code
 * used-by}, which has one reference per sandbox that uses the image.
 *
 * <p>Safe for use by several processes. An image appears atomically and is immutable.
 */
public final class ImageStore {
  private final Path folder;
  private final UsageReferences references = new UsageReferences();

  private final InstantSource clock;
  private final boolean durable;

  /**
   * @param shared the folder shared by all providers of an installation
   */
  public ImageStore(Path shared) {
    this(shared, InstantSource.system());
  }

  public ImageStore(Path shared, InstantSource clock) {
    this(shared, clock, true);
  }

  /**
   * @param durable whether an image is flushed to the disk before it is published; tests disable it
   */
  ImageStore(Path shared, InstantSource clock, boolean durable) {
    this.folder = shared.resolve("images");
    this.clock = clock;
    this.durable = durable;
  }

  /**
   * Options for adding an image.
   *
   * @param replace whether to replace an existing image of that name atomically
   * @param progress receives progress messages, on any thread
   */
  public record AddOptions(ImageLimits limits, boolean replace, Consumer<String> progress) {
    public static final AddOptions DEFAULT = new AddOptions(ImageLimits.DEFAULT, false, line -> {});
  }

  /** Returns whether an image can have that name. */
  public static boolean isValidName(String name) {
    return ImageName.isValid(name);
  }

  /** Returns the image with that name; empty if there is none. */
  public Optional<Image> find(String name) {
    if (!ImageName.isValid(name)) {
      return Optional.empty();
    }
    try {
      return ImageRecord.read(folderOf(name));
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /**
   * Returns the image with that name.
   *
   * @throws dev.isola.spi.error.NotFound with {@code IMAGE_NOT_FOUND}, advice on how to get it, and
   *     similar names
   */
  public Image require(String name) {
    return find(name).orElseThrow(() -> ImageName.notFound(name, names()));
  }

  /** Returns all images sorted by name, skipping unreadable ones. */
  public List<Image> list() {
    List<Image> images = new ArrayList<>();
    for (String name : names()) {
      try {
        ImageRecord.read(folderOf(name)).ifPresent(images::add);
      } catch (IOException damaged) {
        // find() reports the problem.
      }
    }
    return images;
  }

  /**
   * Adds a sandbox's reference to an image, which cannot be removed until {@link #release} or until
   * {@code sandboxFolder} is gone. Called before the image is mounted; idempotent.
   *
   * @throws dev.isola.spi.error.NotFound as {@link #require}
   */
  public Image acquire(String name, SandboxId sandbox, Path sandboxFolder) {
    Image image = require(name);
    try {
      references.add(folderOf(name), sandbox.value(), sandboxFolder);
      return image;
    } catch (NoSuchFileException | NotDirectoryException removed) {
      throw ImageName.notFound(name, names());
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /**
   * Removes the reference added by {@link #acquire}. Idempotent; does nothing if the image is gone.
   */
  public void release(String name, SandboxId sandbox) {
    try {
      if (ImageName.isValid(name)) {
        references.remove(folderOf(name), sandbox.value());
      }
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /** Adds a tar archive or a folder of the host; see {@link #add}. */
  public Image importFrom(String name, Path tarOrFolder) {
    return add(name, ImageSource.path(tarOrFolder), AddOptions.DEFAULT);
  }

  /**
   * Adds an image. It appears atomically; on failure nothing is left.
   *
   * @throws dev.isola.spi.error.Conflict if the name is taken and the image must not be replaced,
   *     or cannot be because a sandbox uses it
   * @throws dev.isola.spi.error.InvalidRequest with {@code BAD_ARCHIVE} for corrupt or malicious
   *     content
   * @throws dev.isola.spi.error.LimitExceeded if it exceeds the limits or the disk is full
   */
  public Image add(String name, ImageSource source, AddOptions options) {
    Path target = folderOf(ImageName.requireValid(name));
    try {
      refuseIfPresent(target, options);
      Files.createDirectories(folder.getParent());
      createImagesFolder();
      try (ImageStagingFolder staging = ImageStagingFolder.create(folder)) {
        build(source, staging, options);
        publish(staging, target, options);
      }
      return require(name);
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /** Builds an image; the image whose files it shares is in use meanwhile. */
  private void build(ImageSource source, ImageStagingFolder staging, AddOptions options)
      throws IOException {
    ImageBuilder builder = new ImageBuilder(staging.folder(), clock.instant());
    Optional<Path> base = source.base().map(image -> folderOf(image.name()));
    if (base.isEmpty()) {
      builder.build(source, options);
      return;
    }
    String holder = "new-image" + staging.folder().getFileName();
    try {
      references.add(base.get(), holder, staging.folder());
    } catch (NoSuchFileException | NotDirectoryException removed) {
      throw ImageName.notFound(nameOf(base.get()), names());
    }
    try {
      builder.build(source, options);
    } finally {
      references.remove(base.get(), holder);
    }
  }

  /**
   * Returns whether an image has a user of that name; false if the image does not exist or its list
   * of users cannot be read.
   */
  public boolean hasUser(String name, String user) {
    return find(name).filter(image -> ImageUsers.contains(image, user)).isPresent();
  }

  /**
   * Checks whether {@link #add} could add an image of that name now, before an expensive source is
   * created.
   *
   * @throws dev.isola.spi.error.InvalidRequest if it is not a valid name
   * @throws dev.isola.spi.error.Conflict as {@link #add}
   */
  public void checkCanAdd(String name, boolean replace) {
    try {
      refuseIfPresent(
          folderOf(ImageName.requireValid(name)),
          new AddOptions(ImageLimits.DEFAULT, replace, line -> {}));
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  private Path folderOf(String name) {
    return folder.resolve(ImageName.folder(name));
  }

  private static String nameOf(Path image) {
    return ImageName.ofFolder(image.getFileName().toString());
  }

  private void publish(ImageStagingFolder staging, Path target, AddOptions options)
      throws IOException {
    if (durable) {
      staging.sync();
    }
    if (!Files.exists(target)) {
      try {
        staging.moveTo(target);
        return;
      } catch (FileSystemException e) {
        if (!Files.exists(target)) {
          throw e;
        } // another process was faster
      }
    }
    refuseIfPresent(target, options);
    staging.exchange(target);
    List<String> holders = references.holders(staging.folder());
    if (!holders.isEmpty()) {
      staging.swap(target);
      throw inUse(target, holders);
    }
  }

  private void refuseIfPresent(Path target, AddOptions options) throws IOException {
    if (!Files.exists(target)) {
      return;
    }
    if (!options.replace()) {
      throw Fault.of(
              ErrorCode.CONFLICT,
              "there is already an image " + nameOf(target),
              "use another name, remove the image first, or use --replace")
          .with("image", nameOf(target))
          .exception();
    }
    List<String> holders = references.holders(target);
    if (!holders.isEmpty()) {
      throw inUse(target, holders);
    }
  }

  /**
   * Removes an image.
   *
   * @throws dev.isola.spi.error.Conflict if sandboxes use it, naming them
   */
  public void remove(String name) {
    Path target = folderOf(require(name).name());
    try {
      List<String> holders = references.holders(target);
      if (!holders.isEmpty()) {
        throw inUse(target, holders);
      }
      try (ImageStagingFolder staging = ImageStagingFolder.detach(target)) {
        // The image can no longer be found. A sandbox that acquired it just before has left a
        // reference.
        List<String> late = references.holders(staging.folder());
        if (!late.isEmpty()) {
          staging.moveTo(target);
          throw inUse(target, late);
        }
      }
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  /** Compares every file of an image with its manifest. */
  public ImageCheck check(String name) {
    Image image = require(name);
    try {
      return ImageCheck.of(image);
    } catch (IOException e) {
      throw unusable(e);
    }
  }

  private static SandboxException inUse(Path target, List<String> sandboxes) {
    List<String> first = sandboxes.stream().limit(5).toList();
    String more = sandboxes.size() > first.size() ? " and more" : "";
    return Fault.of(
            ErrorCode.CONFLICT,
            "the image " + nameOf(target) + " is in use by " + String.join(", ", first) + more,
            "destroy " + (sandboxes.size() == 1 ? "that sandbox" : "those sandboxes") + " first")
        .with("image", nameOf(target))
        .with("sandboxes", String.join(",", sandboxes))
        .exception();
  }

  /** Keeps other users out, because an image may contain programs that are setuid root. */
  private void createImagesFolder() throws IOException {
    Set<PosixFilePermission> ours = PosixFilePermissions.fromString("rwx------");
    try {
      Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(ours));
    } catch (FileAlreadyExistsException there) {
      if (!Files.getPosixFilePermissions(folder).equals(ours)) {
        Files.setPosixFilePermissions(folder, ours);
      }
    }
  }

  private List<String> names() {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      for (Path entry : entries) {
        String name = nameOf(entry);
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
            "check the permissions of that folder and the disk")
        .exception(e);
  }
}
