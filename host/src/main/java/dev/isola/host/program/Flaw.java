package dev.isola.host.program;

import java.util.List;

/**
 * A known hole in a program, and the versions that closed it.
 *
 * @param names as they are catalogued, all closed by the same versions
 * @param since the first version that has it
 * @param fixed the first good version of each series; what is newer than all of them is good
 * @param setuidOnly whether it matters only where the program runs as root for everybody
 */
public record Flaw(List<String> names, Version since, List<Version> fixed, boolean setuidOnly) {
  public Flaw {
    names = List.copyOf(names);
    fixed = List.copyOf(fixed);
  }

  public static Flaw fixedIn(List<String> names, String... versions) {
    List<Version> fixed = List.of(versions).stream().map(Version::of).toList();
    return new Flaw(names, Version.of("0.0"), fixed, false);
  }

  public static Flaw fixedIn(String name, String... versions) {
    return fixedIn(List.of(name), versions);
  }

  Flaw since(String version) {
    return new Flaw(names, Version.of(version), fixed, setuidOnly);
  }

  Flaw ofSetuid() {
    return new Flaw(names, since, fixed, true);
  }

  /** Tells whether a version has it. */
  public boolean in(Version version, boolean setuid) {
    return version.atLeast(since)
        && (setuid || !setuidOnly)
        && fixed.stream().noneMatch(good -> version.besides(good) && version.atLeast(good))
        && fixed.stream().anyMatch(good -> !version.atLeast(good));
  }

  /** Returns the versions without it, in words. */
  public String remedy() {
    return String.join(" or ", fixed.stream().map(Version::toString).toList());
  }
}
