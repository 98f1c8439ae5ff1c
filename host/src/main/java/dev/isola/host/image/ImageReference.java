package dev.isola.host.image;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

/** Resolves a reference to an image that is not stored locally. */
final class ImageReference {
  private static final Pattern TRANSPORT =
      Pattern.compile(
          "(docker|docker-archive|docker-daemon|oci-archive|containers-storage|dir|sif|ostree):.+");

  private ImageReference() {}

  static ImageSource source(String reference) {
    if (reference.isBlank() || reference.startsWith("-") || reference.indexOf('\0') >= 0) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "'" + reference + "' is not an image reference",
              "use oci:FOLDER[:TAG], docker-archive:FILE, or the name of an image in a registry")
          .exception();
    }
    if (reference.startsWith("oci:")) {
      return layout(reference.substring(4), reference);
    }
    if (TRANSPORT.matcher(reference).matches()) {
      return new SkopeoSource(reference);
    }
    Path path = Path.of(reference);
    if (Files.isDirectory(path)) {
      return layout(reference, "oci:" + reference);
    }
    if (Files.isRegularFile(path)) {
      return new SkopeoSource("docker-archive:" + reference);
    }
    if (reference.startsWith("/") || reference.startsWith(".")) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "there is no " + reference + " on this host",
              "use the folder of an OCI layout or a docker archive")
          .exception();
    }
    return new SkopeoSource("docker://" + reference);
  }

  /** Tries the whole text first, because the name of a folder can contain a colon. */
  private static ImageSource layout(String text, String described) {
    int colon = text.lastIndexOf(':');
    if (colon < 0 || Files.isDirectory(Path.of(text))) {
      return new OciSource(Path.of(text), Optional.empty(), described);
    }
    return new OciSource(
        Path.of(text.substring(0, colon)), Optional.of(text.substring(colon + 1)), described);
  }
}
