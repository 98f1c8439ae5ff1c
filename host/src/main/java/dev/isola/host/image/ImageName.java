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
      "a name has 1 to 63 of a-z, 0-9, '.', '_', '-' and begins with a letter or digit";

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
    String remedy = name.equals(HOST) ? "it means the root of this machine; take another" : RULE;
    throw Fault.of(
            ErrorCode.INVALID_REQUEST, "no image can be called '" + shown(name) + "'", remedy)
        .with("image", shown(name))
        .exception();
  }

  static SandboxException notFound(String name, Collection<String> known) {
    return Fault.of(
            ErrorCode.IMAGE_NOT_FOUND,
            "no image is called '" + shown(name) + "'",
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
      return "it means the root of this machine, which this provider does not offer";
    }
    if (!isValid(name)) {
      return RULE + "; isola image pull NAME SOURCE fetches one";
    }
    String make =
        name.equals("base")
            ? "isola image build base makes it"
            : "isola image import, pull or build makes one";
    return known.isEmpty() ? make : make + "; there are: " + String.join(", ", known);
  }

  private static String shown(String name) {
    return name.length() > 80 ? name.substring(0, 80) + "…" : name;
  }
}
