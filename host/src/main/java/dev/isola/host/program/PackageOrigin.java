package dev.isola.host.program;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Who brought a program. A distribution closes holes without a new number. */
public final class PackageOrigin {
  /** How Debian, Ubuntu, Fedora, Red Hat, SUSE and Alpine mark what they have built. */
  private static final Pattern MARK =
      Pattern.compile("\\+ds|[+~-]deb|ubuntu|\\.fc\\d|\\.el\\d|\\.suse|-r\\d");

  private static final List<String> FOLDERS = List.of("/usr/bin", "/usr/sbin", "/bin", "/sbin");

  private PackageOrigin() {}

  /** Tells whether a program at this path comes from the distribution, by where it is. */
  public static boolean isFromDistribution(Path program) {
    return Optional.ofNullable(program.getParent())
        .map(Path::toString)
        .filter(FOLDERS::contains)
        .isPresent();
  }

  /** Tells whether a distribution built what says this of itself. */
  public static boolean isFromDistribution(String said) {
    return MARK.matcher(said).find();
  }
}
