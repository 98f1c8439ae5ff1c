package dev.isola.host.image;

import dev.isola.document.Suggestion;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;

/** Rules for image names, and suggestions for unknown ones. */
final class ImageName {
  /** Reserved: stands for the root of the host. */
  static final String HOST = "host";

  private static final Pattern PATTERN = Pattern.compile("[a-z0-9][a-z0-9._-]{0,62}");
  private static final String RULE =
      "use 1 to 63 characters of a-z, 0-9, '.', '_', '-', starting with a letter or digit";

  private ImageName() {}

  static boolean isValid(String name) {
    return PATTERN.matcher(name).matches() && !name.equals(HOST);
  }

  /**
   * Returns {@code name}.
   *
   * @throws dev.isola.spi.error.InvalidRequest if it is not a valid image name
   */
  static String requireValid(String name) {
    if (isValid(name)) {
      return name;
    }
    String remedy =
        name.equals(HOST)
            ? "the name is reserved for the root of the host; use another name"
            : RULE;
    throw Fault.of(ErrorCode.INVALID_REQUEST, "invalid image name '" + shown(name) + "'", remedy)
        .with("image", shown(name))
        .exception();
  }

  static SandboxException notFound(String name, Collection<String> known) {
    return Fault.of(
            ErrorCode.IMAGE_NOT_FOUND,
            "there is no image '" + shown(name) + "'",
            remedy(name, known))
        .with("image", shown(name))
        .exception();
  }

  private static String remedy(String name, Collection<String> known) {
    List<String> near = Suggestion.candidates(name, known, 3);
    if (!near.isEmpty()) {
      return "did you mean " + String.join(" or ", near) + "? isola image list shows all";
    }
    if (name.equals(HOST)) {
      return "it stands for the root of the host, which this provider does not support";
    }
    if (!isValid(name)) {
      return RULE + "; isola image pull NAME SOURCE fetches one";
    }
    String make =
        name.equals("base")
            ? "isola image build base creates it"
            : "isola image import, pull or build creates one";
    return known.isEmpty() ? make : make + "; available: " + String.join(", ", known);
  }

  private static String shown(String name) {
    return name.length() > 80 ? name.substring(0, 80) + "…" : name;
  }
}
