package dev.isola.host.program;

import java.util.List;
import java.util.Map;

/**
 * Vulnerabilities that give a sandbox, an image or another user access to the host. Those of one
 * program are ordered by the version that fixes them.
 */
public final class KnownVulnerabilities {
  private static final Map<String, List<Vulnerability>> VULNERABILITIES =
      Map.of(
          "bwrap",
          List.of(
              Vulnerability.fixedIn("CVE-2020-5291", "0.4.1").whenSetuid(),
              Vulnerability.fixedIn("CVE-2026-41163", "0.11.2").since("0.11.0").whenSetuid(),
              Vulnerability.fixedIn("CVE-2026-87766", "0.12.0")),
          "crun",
          List.of(
              Vulnerability.fixedIn("CVE-2022-27650", "1.4.4"),
              Vulnerability.fixedIn(List.of("CVE-2026-88264", "CVE-2026-88265"), "1.30")),
          "runc",
          List.of(
              Vulnerability.fixedIn("CVE-2024-21626", "1.1.12"),
              Vulnerability.fixedIn(
                  List.of("CVE-2025-31133", "CVE-2025-52565", "CVE-2025-52881"), "1.2.8", "1.3.3"),
              Vulnerability.fixedIn("CVE-2026-41579", "1.3.6", "1.4.3")),
          "dockerd",
          List.of(
              Vulnerability.fixedIn("CVE-2022-24769", "20.10.14"),
              Vulnerability.fixedIn("CVE-2022-36109", "20.10.18")),
          "podman",
          List.of(Vulnerability.fixedIn("CVE-2026-55686", "5.7.1").since("3.0.0")),
          "firecracker", // and its jailer, which has the same version
          List.of(
              Vulnerability.fixedIn("CVE-2019-18960", "0.18.1", "0.19.1").since("0.18.0"),
              Vulnerability.fixedIn("CVE-2026-1386", "1.13.2", "1.14.1"),
              Vulnerability.fixedIn("CVE-2026-5747", "1.14.4", "1.15.1").since("1.13.0")),
          "skopeo",
          List.of(Vulnerability.fixedIn("CVE-2024-3727", "1.14.4", "1.15.1")),
          "slirp4netns", // the version of libslirp matters
          List.of(
              Vulnerability.fixedIn(
                  List.of("CVE-2021-3592", "CVE-2021-3593", "CVE-2021-3594", "CVE-2021-3595"),
                  "4.6.0")));

  private KnownVulnerabilities() {}

  /** Returns the vulnerabilities of a program; may be empty. */
  public static List<Vulnerability> of(String program) {
    return VULNERABILITIES.getOrDefault(program, List.of());
  }
}
