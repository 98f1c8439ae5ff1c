package dev.isola.host.image;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A Debian-based image to build from packages.
 *
 * @param distribution {@code debian}, {@code ubuntu}, ...
 * @param suite {@code bookworm}, ...
 * @param packages packages in addition to those of the variant
 * @param variant the base package set: {@code minbase} or another one that the tool supports
 * @param mirror the package mirror; by default that of the host
 * @param account whether to create the user {@code user} with id 1000 and sudo rights
 */
public record DebianRecipe(
    String distribution,
    String suite,
    List<String> packages,
    String variant,
    Optional<String> mirror,
    boolean account) {

  /** The packages of {@code isola image build base}. */
  public static final List<String> BASE_PACKAGES =
      List.of(
          "bash",
          "python3",
          "python-is-python3",
          "python3-pip",
          "git",
          "curl",
          "sudo",
          "ca-certificates",
          "procps");

  public static final String BASE = "base";

  private static final List<String> PYTHON = List.of("python3-venv");
  private static final List<String> NODE = List.of("nodejs", "npm");
  private static final List<String> JAVA = List.of("default-jdk-headless", "maven");
  private static final List<String> TOOLS =
      List.of(
          "build-essential",
          "pkg-config",
          "python3-dev",
          "ripgrep",
          "jq",
          "less",
          "nano",
          "file",
          "unzip",
          "zip",
          "xz-utils",
          "wget",
          "openssh-client",
          "sqlite3");

  /** The images that need no further options, by name, with their packages beyond {@code base}. */
  public static final Map<String, List<String>> READY =
      Map.of(
          BASE,
          List.of(),
          "python",
          PYTHON,
          "node",
          NODE,
          "java",
          JAVA,
          "full",
          Stream.of(PYTHON, NODE, JAVA, TOOLS).flatMap(List::stream).toList());

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

  /** Returns the recipe of the image {@code base}: its packages and its user. */
  public DebianRecipe asBase() {
    List<String> all = new ArrayList<>(BASE_PACKAGES);
    packages.stream().filter(name -> !all.contains(name)).forEach(all::add);
    return new DebianRecipe(distribution, suite, all, variant, mirror, true);
  }

  /**
   * Returns the recipe of a ready image: the user and the packages of {@code base}, its own
   * packages and those of this recipe.
   *
   * @param name one of {@link #READY}
   */
  public DebianRecipe asReady(String name) {
    List<String> all = new ArrayList<>(READY.getOrDefault(name, List.of()));
    packages.stream().filter(one -> !all.contains(one)).forEach(all::add);
    return new DebianRecipe(distribution, suite, all, variant, mirror, account).asBase();
  }

  ImageDefaults defaults() {
    Map<String, String> env = new TreeMap<>();
    if (account) {
      env.put("LANG", "C.UTF-8");
    }
    if (account && packages.contains("python3-pip")) {
      // The image belongs to its sandboxes: pip may install beside the packages of Debian.
      env.put("PIP_BREAK_SYSTEM_PACKAGES", "1");
    }
    return new ImageDefaults(
        env,
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
