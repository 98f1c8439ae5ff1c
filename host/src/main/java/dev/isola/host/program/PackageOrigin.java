package dev.isola.host.program;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Whether a program comes from a distribution, which may fix vulnerabilities without a new version
 * number.
 */
public final class PackageOrigin {
  /** Version suffixes of Debian, Ubuntu, Fedora, Red Hat, SUSE and Alpine. */
  private static final Pattern MARK =
      Pattern.compile("\\+ds|[+~-]deb|ubuntu|\\.fc\\d|\\.el\\d|\\.suse|-r\\d");

  private static final List<String> FOLDERS = List.of("/usr/bin", "/usr/sbin", "/bin", "/sbin");

  private PackageOrigin() {}

  /** Reports whether a program comes from the distribution, judging by its folder. */
  public static boolean isFromDistribution(Path program) {
    return Optional.ofNullable(program.getParent())
        .map(Path::toString)
        .filter(FOLDERS::contains)
        .isPresent();
  }

  /** Reports whether a distribution built a program, judging by its version output. */
  public static boolean isFromDistribution(String versionOutput) {
    return MARK.matcher(versionOutput).find();
  }
}
