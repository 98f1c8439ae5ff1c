package dev.isola.host.image;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * The source of an image. Create it with the methods of this class and pass it to {@link
 * ImageStore#add}, which consumes it.
 */
public abstract sealed class ImageSource
    permits TarSource, FolderSource, OciSource, SkopeoSource, DebianSource, LayerSource {

  /** Returns a source for a folder or a tar archive of the host, compressed or not. */
  public static ImageSource path(Path path) {
    if (Files.isDirectory(path)) {
      return new FolderSource(path);
    }
    if (!Files.exists(path)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "there is no " + path + " on this host",
              "use a tar archive or a folder")
          .exception();
    }
    return new TarSource(path);
  }

  /** Returns a source for a tar archive, compressed or not, that is read to its end. */
  public static ImageSource tar(InputStream archive, String described) {
    return new TarSource(archive, described, ImageDefaults.NONE);
  }

  /**
   * Returns a source for a tar archive whose image has defaults for commands.
   *
   * @param user empty for none
   * @param workdir empty for none
   */
  public static ImageSource tar(
      InputStream archive, String described, Map<String, String> env, String user, String workdir) {
    return new TarSource(archive, described, defaults(env, user, workdir, Optional.empty()));
  }

  /**
   * Returns a source with the files of an image, which are shared and not copied, and changes to
   * them.
   *
   * @param user empty for none
   * @param workdir empty for none
   */
  public static ImageSource layer(
      ImageLayer layer, String described, Map<String, String> env, String user, String workdir) {
    Optional<String> architecture =
        Optional.of(layer.base().architecture()).filter(text -> !text.equals(Architecture.UNKNOWN));
    return new LayerSource(layer, described, defaults(env, user, workdir, architecture));
  }

  private static ImageDefaults defaults(
      Map<String, String> env, String user, String workdir, Optional<String> architecture) {
    return new ImageDefaults(
        env,
        Optional.of(user).filter(text -> !text.isEmpty()),
        Optional.of(workdir).filter(text -> !text.isEmpty()),
        architecture);
  }

  /**
   * Returns a source for an image in a registry, an archive or an OCI layout: {@code
   * oci:FOLDER[:TAG]}, the folder of a layout, a docker archive, a skopeo transport with its
   * argument, or the name of an image in a registry.
   */
  public static ImageSource reference(String reference) {
    return ImageReference.source(reference);
  }

  /** Returns a source that builds a Debian-based distribution from packages. */
  public static ImageSource debian(DebianRecipe recipe) {
    return new DebianSource(recipe);
  }

  /** Returns where the image comes from, for display. */
  abstract String description();

  /** Returns the image whose files this one shares. */
  Optional<Image> base() {
    return Optional.empty();
  }

  /** Returns whether the image has exactly the files of {@link #base}. */
  boolean hasFilesOfBase() {
    return false;
  }

  /** Unpacks everything into the image. */
  abstract ImageDefaults unpack(UnpackContext context) throws IOException;
}
