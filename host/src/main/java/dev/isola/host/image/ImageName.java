package dev.isola.host.image;

import dev.isola.document.field.Suggestion;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Rules for image names, and suggestions for unknown ones. A name is written as for Docker: {@code
 * NAME}, {@code NAME:TAG} or {@code HOST/PATH/NAME:TAG}. The tag {@code latest} means no tag.
 */
final class ImageName {
  /** Reserved: stands for the root of the host. */
  static final String HOST = "host";

  /** Reserved: {@code snapshot:ID} stands for a snapshot. */
  private static final String SNAPSHOT = "snapshot:";

  private static final int MAX_LENGTH = 128;
  private static final Pattern PATTERN =
      Pattern.compile(
          "[a-z0-9][a-z0-9._-]{0,62}(/[a-z0-9][a-z0-9._-]{0,62}){0,4}"
              + "(:[A-Za-z0-9_][A-Za-z0-9._-]{0,62})?");
  private static final String RULE =
      "use NAME or NAME:TAG of a-z, 0-9, '.', '_', '-', each starting with a letter or digit and"
          + " at most 63 characters long";

  private ImageName() {}

  static boolean isValid(String name) {
    return name.length() <= MAX_LENGTH
        && PATTERN.matcher(name).matches()
        && !isReserved(canonical(name));
  }

  private static boolean isReserved(String name) {
    return name.equals(HOST) || name.startsWith(SNAPSHOT);
  }

  /** Returns a name without the tag {@code latest}. */
  static String canonical(String name) {
    return name.endsWith(":latest") ? name.substring(0, name.lastIndexOf(':')) : name;
  }

  /**
   * Returns the name of the folder of an image. A colon would end a path in the options of an
   * overlay mount.
   *
   * @param name a valid name
   */
  static String folder(String name) {
    return canonical(name).replace('/', '%').replace(':', '@');
  }

  /** Returns the name of the image in a folder; invalid if the folder holds no image. */
  static String ofFolder(String folder) {
    boolean encoded = folder.indexOf('/') < 0 && folder.indexOf(':') < 0;
    return encoded ? folder.replace('%', '/').replace('@', ':') : "";
  }

  /**
   * Returns {@code name} without the tag {@code latest}.
   *
   * @throws dev.isola.spi.error.InvalidRequest if it is not a valid image name
   */
  static String requireValid(String name) {
    if (isValid(name)) {
      return canonical(name);
    }
    String remedy =
        canonical(name).equals(HOST)
            ? "the name is reserved for the root of the host; use another name"
            : name.startsWith(SNAPSHOT)
                ? "snapshot:ID is reserved for snapshots; use another name"
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
      return "did you mean " + String.join(" or ", near) + "? isola image ls shows all";
    }
    if (name.equals(HOST)) {
      return "it stands for the root of the host, which this provider does not support";
    }
    if (!isValid(name)) {
      return RULE + "; isola image pull NAME SOURCE fetches one";
    }
    String make =
        DebianRecipe.READY.containsKey(name)
            ? "isola image build " + name + " creates it"
            : name.indexOf(':') >= 0 || name.indexOf('/') >= 0
                ? "isola image pull " + name + " fetches it from a registry"
                : "isola image import, pull or build creates one";
    return known.isEmpty() ? make : make + "; available: " + String.join(", ", known);
  }

  private static String shown(String name) {
    return name.length() > 80 ? name.substring(0, 80) + "…" : name;
  }
}
