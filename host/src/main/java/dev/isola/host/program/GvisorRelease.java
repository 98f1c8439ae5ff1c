package dev.isola.host.program;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A release of gVisor, by the version of its program {@code runsc}; and how gVisor's kernel is
 * recognised from within.
 */
public record GvisorRelease(Version version) {
  /** Where gVisor itself publishes releases; Debian 12 has one of 2022. */
  public static final String INSTALL =
      "install a current runsc from gVisor itself"
          + " (https://gvisor.dev/docs/user_guide/install/); the one of Debian 12 is too old";

  /** What finds the version, as its first group, in what {@code runsc --version} says. */
  public static final Pattern VERSION_OUTPUT =
      Pattern.compile("runsc version \\D*(?:0\\.0~)?(\\d{8}(?:\\.\\d+)*)");

  /**
   * What {@code /proc/version} says in gVisor. The release was 4.4.0 until 2025, then 4.19.0-gvisor
   * and 5.15.0-gvisor, so no number tells. What stays is the build, a constant of its sources that
   * no kernel of Linux has (those name a compiler before it), or the release's suffix.
   */
  private static final Pattern KERNEL =
      Pattern.compile(
          "Linux version (\\S+-gvisor|\\S+ #1 SMP Sun Jan 10 15:06:54 PST 2016)(\\s.*)?",
          Pattern.DOTALL);

  /** Seen up to 20221219; nothing between that and this was tried. */
  private static final Version STATX = Version.of("20230101");

  /** The first that is known to make signals of what is typed, and an end of file. */
  private static final Version TERMINALS = Version.of("20240729");

  /** Returns the release of a program that says this of itself. */
  public static Optional<GvisorRelease> of(String said) {
    Matcher found = VERSION_OUTPUT.matcher(said);
    return found.find()
        ? Optional.of(new GvisorRelease(Version.of(found.group(1))))
        : Optional.empty();
  }

  /**
   * Tells whether a sandbox runs on gVisor's kernel.
   *
   * @param inside what {@code /proc/version} says in the sandbox
   * @param outside what the host's kernel says of itself, or its release alone: a sandbox that says
   *     the same runs on the host's kernel, whatever that is called
   */
  public static boolean isKernel(String inside, String outside) {
    Matcher release = Pattern.compile("Linux version (\\S+)").matcher(inside);
    return KERNEL.matcher(inside).matches()
        && release.lookingAt()
        && !outside.isEmpty()
        && !outside.equals(inside)
        && !outside.equals(release.group(1))
        && !outside.startsWith("Linux version " + release.group(1) + " ");
  }

  /** Tells whether it is known to have terminals that work. */
  public boolean hasTerminals() {
    return version.atLeast(TERMINALS);
  }

  /** Returns what is broken in it; empty where nothing is known to be. */
  public Optional<String> defect() {
    // Its statx refuses AT_NO_AUTOMOUNT, which they ask for since coreutils 9.
    return version.atLeast(STATX)
        ? Optional.empty()
        : Optional.of(
            "ls and stat of Debian 12 and newer fail in gVisor "
                + version
                + (hasTerminals() ? "" : ", and it has no terminals"));
  }
}
