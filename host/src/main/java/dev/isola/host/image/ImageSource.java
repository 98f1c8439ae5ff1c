package dev.isola.host.image;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where an image comes from. Made by the methods here; used up by {@link ImageStore#add}. */
public abstract sealed class ImageSource
    permits TarSource, FolderSource, OciSource, SkopeoSource, DebianSource {

  /** A tar archive, packed or not, or a folder of this machine: whichever {@code path} is. */
  public static ImageSource path(Path path) {
    if (Files.isDirectory(path)) {
      return new FolderSource(path);
    }
    if (!Files.exists(path)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "there is no " + path + " on this machine",
              "name a tar archive or a folder")
          .exception();
    }
    return new TarSource(path);
  }

  /** A tar archive, packed or not, that is read to its end. */
  public static ImageSource tar(InputStream archive, String described) {
    return new TarSource(archive, described);
  }

  /**
   * What a registry, an archive or an OCI layout holds: {@code oci:FOLDER[:TAG]}, a layout's
   * folder, a docker archive's file, a transport that skopeo knows with its argument, or a name at
   * a registry.
   */
  public static ImageSource reference(String reference) {
    return ImageReference.source(reference);
  }

  /** A distribution of the Debian family, put together from its packages. */
  public static ImageSource debian(DebianRecipe recipe) {
    return new DebianSource(recipe);
  }

  /** Says where it comes from, for people. */
  abstract String description();

  /** Puts everything into the image. */
  abstract ImageDefaults unpack(UnpackContext unpacking) throws IOException;
}
