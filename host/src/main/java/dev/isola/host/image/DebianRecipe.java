package dev.isola.host.image;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What to build from packages.
 *
 * @param distribution {@code debian}, {@code ubuntu}, ...
 * @param suite {@code bookworm}, ...
 * @param packages besides those of the variant
 * @param variant how much there is at least: {@code minbase}, or another that the tool knows
 * @param mirror where the packages are; otherwise the mirror this machine itself uses
 * @param account whether it gets the user {@code user} with the id 1000, who may become root
 */
public record DebianRecipe(
    String distribution,
    String suite,
    List<String> packages,
    String variant,
    Optional<String> mirror,
    boolean account) {

  /** What {@code isola image build base} builds. */
  public static final List<String> BASE_PACKAGES =
      List.of("bash", "python3", "git", "curl", "sudo", "ca-certificates", "procps");

  public static final String BASE = "base";
  public static final String BASE_FROM = "debian:bookworm";
  public static final String VARIANT = "minbase";

  private static final Pattern WORD = Pattern.compile("[a-z0-9][a-z0-9.-]{0,40}");
  private static final Pattern PACKAGE = Pattern.compile("[a-z0-9][a-z0-9+.:-]{0,100}");
  private static final Pattern MIRROR = Pattern.compile("(https?|file|copy|ftp)://?[!-~]{1,500}");

  public DebianRecipe {
    packages = List.copyOf(packages);
    check(WORD, distribution, "distribution", "write it like debian:bookworm");
    check(WORD, suite, "suite", "write it like debian:bookworm");
    check(WORD, variant, "variant", "minbase, apt, essential, standard ...");
    packages.forEach(name -> check(PACKAGE, name, "package", "write names like git or python3"));
    mirror.ifPresent(url -> check(MIRROR, url, "mirror", "write it like http://HOST/debian"));
  }

  /**
   * @param from {@code DISTRIBUTION:SUITE}
   */
  public static DebianRecipe of(
      String from, List<String> packages, String variant, Optional<String> mirror) {
    int colon = from.indexOf(':');
    if (colon < 0) {
      throw wrong("'" + from + "' names no suite", "write it like debian:bookworm");
    }
    return new DebianRecipe(
        from.substring(0, colon), from.substring(colon + 1), packages, variant, mirror, false);
  }

  /** Adds what makes an image {@code base}: its packages and the user. */
  public DebianRecipe asBase() {
    List<String> all = new ArrayList<>(BASE_PACKAGES);
    packages.stream().filter(name -> !all.contains(name)).forEach(all::add);
    return new DebianRecipe(distribution, suite, all, variant, mirror, true);
  }

  ImageDefaults defaults() {
    return new ImageDefaults(
        account ? Map.of("LANG", "C.UTF-8") : Map.of(),
        account ? Optional.of("user") : Optional.empty(),
        account ? Optional.of("/home/user") : Optional.empty(),
        Optional.empty());
  }

  private static void check(Pattern form, String text, String what, String remedy) {
    if (!form.matcher(text).matches()) {
      throw wrong("'" + text + "' is not a " + what, remedy);
    }
  }

  private static SandboxException wrong(String what, String remedy) {
    return Fault.of(ErrorCode.INVALID_REQUEST, what, remedy).exception();
  }
}
