package dev.isola.app.operate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which programs are installed, and which of their versions have known vulnerabilities. */
class ToolChecksTest {
  private static final Path BROUGHT = Path.of("/usr/bin/program");
  private static final Path OWN = Path.of("/usr/local/bin/program");

  @TempDir Path folder;

  private ToolChecks tools(Distribution packages) {
    return tools(packages, Map.of());
  }

  private ToolChecks tools(Distribution packages, Map<String, List<String>> declared) {
    Map<String, String> versions = Map.of("runc", "1.1.5+ds1-1+deb12u1");
    InstalledPackages installed = new InstalledPackages(versions, folder.resolve("doc"));
    return new ToolChecks(List.of(folder), packages, installed, declared);
  }

  private static HostTool tool(String command) {
    return HostTool.ALL.stream()
        .filter(tool -> tool.command().equals(command))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          runc        | runc version 1.1.11          | CVE-2024-21626, CVE-2025-31133
          runc        | runc version 1.1.12          | CVE-2025-31133
          runc        | runc version 1.2.7           | CVE-2025-31133
          runc        | runc version 1.3.2           | CVE-2025-31133
          runc        | runc version 1.2.8           | CVE-2026-41579
          runc        | runc version 1.3.3           | CVE-2026-41579
          runc        | runc version 1.3.6           |
          runc        | runc version 1.4.0           | CVE-2026-41579
          runc        | runc version 1.4.3           |
          runc        | runc version 1.5.0           |
          crun        | crun version 1.4.3           | CVE-2022-27650, CVE-2026-88264
          crun        | crun version 1.14            | CVE-2026-88264
          crun        | crun version 1.30            |
          bwrap       | bubblewrap 0.4.0             | CVE-2026-87766
          bwrap       | bubblewrap 0.11.0            | CVE-2026-87766
          bwrap       | bubblewrap 0.12.0            |
          podman      | podman version 2.2.1         |
          podman      | podman version 5.7.0         | CVE-2026-55686
          podman      | podman version 5.7.1         |
          firecracker | Firecracker v1.14.0          | CVE-2026-1386, CVE-2026-5747
          firecracker | Firecracker v1.15.0          | CVE-2026-5747
          firecracker | Firecracker v1.15.1          |
          skopeo      | skopeo version 1.9.3         | CVE-2024-3727
          skopeo      | skopeo version 1.14.4        |
          skopeo      | skopeo version 1.15.0        | CVE-2024-3727
          skopeo      | skopeo version 1.18.0        |
          slirp4netns | slirp4netns version 1.2.0 libslirp: 4.5.0 | CVE-2021-3592
          slirp4netns | slirp4netns version 1.0.0 libslirp: 4.7.0 |
          runsc       | runsc version release-20221219.0 |
          """)
  void reportsKnownVulnerabilities(String command, String said, @Nullable String holes) {
    ToolChecks debian = tools(Distribution.DEBIAN);
    DoctorCheck own = debian.evaluate(tool(command), OWN, said);
    if (holes == null) {
      assertThat(own.good()).isTrue();
      assertThat(own.fix()).isEmpty();
    } else {
      assertThat(own.good()).isFalse();
      assertThat(own.value()).contains(" is affected by " + holes);
      assertThat(own.fix()).startsWith("install ").endsWith(" or newer");
    }
    DoctorCheck brought = debian.evaluate(tool(command), BROUGHT, said);
    assertThat(brought.good()).as("a distribution may have closed it").isTrue();
    assertThat(brought.warns()).isEqualTo(holes != null);
  }

  @Test
  void reportsThePackageVersion() throws IOException {
    String said = "runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1+deb12u1\n";
    DoctorCheck runc = tools(Distribution.DEBIAN).evaluate(tool("runc"), BROUGHT, said);
    assertThat(runc.value()).isEqualTo("1.1.5+ds1 (package 1.1.5+ds1-1+deb12u1), " + BROUGHT);
    assertThat(runc.fix())
        .startsWith("check that your distribution has fixed CVE-2024-21626, CVE-2025-31133, ");
    changelog("runc", "runc (1.1.5+ds1-1+deb12u1)\n  * CVE-2024-21626: breakouts by leaked fds\n");
    assertThat(tools(Distribution.DEBIAN).evaluate(tool("runc"), BROUGHT, said).fix())
        .as("what the package says is closed is no longer asked for")
        .startsWith("check that your distribution has fixed CVE-2025-31133, ");
    assertThat(tools(Distribution.DEBIAN).evaluate(tool("runc"), OWN, said).value())
        .as("a program from elsewhere is not the package's")
        .contains("is affected by CVE-2024-21626");
  }

  @Test
  void packageWithAllFixesPasses() throws IOException {
    changelog("skopeo", "skopeo (1.9.3+ds1-1+deb12u1)\n  * Fix CVE-2024-3727\n");
    assertThat(tools(Distribution.DEBIAN).evaluate(tool("skopeo"), BROUGHT, "skopeo version 1.9.3"))
        .matches(DoctorCheck::good)
        .matches(fact -> !fact.warns());
  }

  @Test
  void setuidVulnerabilityRequiresTheSetuidBit() throws IOException {
    Path program = script("bwrap", "echo bubblewrap 0.11.1");
    ToolChecks tools = tools(Distribution.OTHER);
    assertThat(tools.checks(List.of(tool("bwrap"))))
        .singleElement()
        .satisfies(fact -> assertThat(fact.value()).doesNotContain("CVE-2026-41163"));
    Files.setAttribute(program, "unix:mode", 0104755);
    assertThat(tools.checks(List.of(tool("bwrap"))))
        .singleElement()
        .satisfies(
            fact -> assertThat(fact.value()).contains("0.11.1", " is affected by CVE-2026-41163"));
  }

  @Test
  void missingToolReportsWhatItEnables() {
    Map<String, List<String>> declared = Map.of("bubblewrap", List.of("bwrap"));
    assertThat(tools(Distribution.DEBIAN, declared).checks(List.of(tool("bwrap"), tool("runsc"))))
        .containsExactly(
            DoctorCheck.bad(
                "bwrap",
                "not found; enables namespaces without a daemon (provider bubblewrap)",
                "apt install bubblewrap"),
            DoctorCheck.bad(
                "runsc",
                "not found; enables gVisor: a separate kernel for each sandbox (not used by any"
                    + " installed provider)",
                "apt install runsc"));
    assertThat(tools(Distribution.FEDORA).checks(List.of(tool("ip"), tool("runsc"))))
        .extracting(DoctorCheck::fix)
        .containsExactly("dnf install iproute", "install runsc as documented by its project");
  }

  @Test
  void programWithoutVersionOutputIsInstalled() throws IOException {
    script("zstd", "echo 'zstd unknown version, see https://example.org/agpl-3.0.html'");
    script("newuidmap", "exit 1");
    script("nft", "exec sleep 1000 > /dev/null 2>&1");
    assertThat(
            tools(Distribution.OTHER).checks(List.of(tool("zstd"), tool("newuidmap"), tool("nft"))))
        .allMatch(DoctorCheck::good)
        .extracting(DoctorCheck::value)
        .allSatisfy(value -> assertThat(value).startsWith("version unknown, " + folder));
  }

  @Test
  void unknownVersionOfAVulnerableProgramIsAWarning() throws IOException {
    script("crun", "exit 1");
    assertThat(tools(Distribution.OTHER).checks(List.of(tool("crun"))))
        .singleElement()
        .matches(DoctorCheck::warns)
        .satisfies(fact -> assertThat(fact.fix()).contains("check that it is 1.30 or newer"));
  }

  @Test
  @Timeout(20)
  void hangingProgramsDoNotBlockDoctor() throws IOException {
    script("git", "echo git version 2.0.1; sleep 60 &");
    script("skopeo", "yes skopeo version 1.18.0");
    assertThat(tools(Distribution.OTHER).checks(List.of(tool("git"), tool("skopeo"))))
        .extracting(DoctorCheck::value)
        .satisfiesExactly(
            left -> assertThat(left).startsWith("2.0.1,"),
            chatty -> assertThat(chatty).startsWith("1.18.0,"));
  }

  @Test
  void programsDeclaredOnlyByProvidersAreChecked() throws IOException {
    Map<String, List<String>> declared =
        Map.of(
            "lantern", List.of("lanternd", "git"),
            "lantern-east", List.of("lanternd"),
            "plain", List.of());
    assertThat(tools(Distribution.OTHER, declared).checks())
        .hasSize(HostTool.ALL.size() + 1)
        .last()
        .isEqualTo(
            DoctorCheck.bad(
                "lanternd",
                "not found; enables sandboxes (providers lantern, lantern-east)",
                "install lanternd as documented by its project"));
    script("lanternd", "echo lanternd 1.2.3");
    assertThat(tools(Distribution.OTHER, declared).checks().getLast().value()).startsWith("1.2.3,");
  }

  @Test
  void everyToolIsListedOnce() {
    assertThat(HostTool.ALL).extracting(HostTool::command).doesNotHaveDuplicates();
    assertThat(HostTool.ALL).allSatisfy(tool -> assertThat(tool.purpose()).isNotBlank());
  }

  @ParameterizedTest
  @CsvSource({
    "'ID=debian', apt install x",
    "'ID=ubuntu\nID_LIKE=debian', apt install x",
    "'ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"', dnf install x",
    "'ID=alpine', apk add x",
    "'ID=arch', pacman -S x",
    "'ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"', zypper install x",
    "'ID=unheard', install x",
    "'', install x"
  })
  void installCommandFollowsTheDistribution(String osRelease, String command) {
    assertThat(Distribution.of(osRelease).installCommand("x")).isEqualTo(command);
  }

  @Test
  void onlyInstalledPackagesHaveAVersion() {
    assertThat(
            InstalledPackages.of(
                    """
                    Package: runc
                    Status: install ok installed
                    Version: 1.1.5+ds1-1+deb12u1

                    Package: crun
                    Status: deinstall ok config-files
                    Version: 1.8.1-1
                    """,
                    folder)
                .versions())
        .isEqualTo(Map.of("runc", "1.1.5+ds1-1+deb12u1"));
  }

  private void changelog(String name, String text) throws IOException {
    Path file =
        Files.createDirectories(folder.resolve("doc").resolve(name)).resolve("changelog.Debian.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
  }

  private Path script(String name, String text) throws IOException {
    Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + text + "\n");
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
