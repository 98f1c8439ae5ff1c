package dev.isola.host.program;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A release of gVisor, identified by the version of {@code runsc}, and the detection of its kernel
 * from inside.
 */
public record GvisorRelease(Version version) {
  /** gVisor's own releases; Debian 12 has one of 2022. */
  public static final String INSTALL =
      "install a current runsc from gVisor itself"
          + " (https://gvisor.dev/docs/user_guide/install/); the one in Debian 12 is too old";

  /** Matches the version, as the first group, in the output of {@code runsc --version}. */
  public static final Pattern VERSION_OUTPUT =
      Pattern.compile("runsc version \\D*(?:0\\.0~)?(\\d{8}(?:\\.\\d+)*)");

  /**
   * Matches {@code /proc/version} in gVisor. The release was 4.4.0 until 2025, then 4.19.0-gvisor
   * and 5.15.0-gvisor, so the number does not identify it. The build date does, a constant that no
   * Linux kernel has at this position (those name a compiler before it), or the suffix of the
   * release.
   */
  private static final Pattern KERNEL =
      Pattern.compile(
          "Linux version (\\S+-gvisor|\\S+ #1 SMP Sun Jan 10 15:06:54 PST 2016)(\\s.*)?",
          Pattern.DOTALL);

  /** The defect was seen up to 20221219; no release between that and this one was tested. */
  private static final Version STATX = Version.of("20230101");

  /** The first release known to support signals and end of file from a terminal. */
  private static final Version TERMINALS = Version.of("20240729");

  /** The first release known to save a sandbox without ending it. */
  public static final Version MEMORY = Version.of("20240729");

  /** Returns the release according to the output of {@code runsc --version}. */
  public static Optional<GvisorRelease> of(String versionOutput) {
    Matcher found = VERSION_OUTPUT.matcher(versionOutput);
    return found.find()
        ? Optional.of(new GvisorRelease(Version.of(found.group(1))))
        : Optional.empty();
  }

  /**
   * Reports whether a sandbox runs on gVisor's kernel.
   *
   * @param inside {@code /proc/version} in the sandbox
   * @param outside {@code /proc/version} of the host, or its release alone; a sandbox with the same
   *     runs on the host's kernel, whatever its name
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

  /** Reports whether terminals are known to work. */
  public boolean hasTerminals() {
    return version.atLeast(TERMINALS);
  }

  /** Reports whether running sandboxes can be saved, which continue in any case. */
  public boolean savesMemory() {
    return version.atLeast(MEMORY);
  }

  /** Returns the known defect of this release; empty if there is none. */
  public Optional<String> defect() {
    // Its statx rejects AT_NO_AUTOMOUNT, which coreutils uses since version 9.
    return version.atLeast(STATX)
        ? Optional.empty()
        : Optional.of(
            "ls and stat of Debian 12 and newer fail in gVisor "
                + version
                + (hasTerminals() ? "" : ", and it has no terminals")
                + (savesMemory() ? "" : " and cannot fork memory"));
  }
}
