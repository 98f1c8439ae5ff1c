package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which programs there are, and which versions of them have holes. */
class ToolsTest {
  private static final Path BROUGHT = Path.of("/usr/bin/program");
  private static final Path OWN = Path.of("/usr/local/bin/program");

  @TempDir Path folder;
  private final Tools debian =
      new Tools(List.of(), Packages.DEBIAN, Map.of("runc", "1.1.5+ds1-1+deb12u1"));

  private static Tool tool(String command) {
    return Tool.ALL.stream()
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
          runc        | runc version 1.2.8           |
          runc        | runc version 1.2.9           |
          runc        | runc version 1.3.3           |
          runc        | runc version 1.4.0           |
          crun        | crun version 1.4.3           | CVE-2022-27650
          crun        | crun version 1.4.4           |
          crun        | crun version 1.14            |
          bwrap       | bubblewrap 0.4.0             |
          bwrap       | bubblewrap 0.11.0            |
          skopeo      | skopeo version 1.9.3         | CVE-2024-3727
          skopeo      | skopeo version 1.14.4        |
          skopeo      | skopeo version 1.15.0        | CVE-2024-3727
          skopeo      | skopeo version 1.18.0        |
          slirp4netns | slirp4netns version 1.2.0 libslirp: 4.5.0 | CVE-2021-3592
          slirp4netns | slirp4netns version 1.0.0 libslirp: 4.7.0 |
          runsc       | runsc version release-20221219.0 |
          """)
  void holesAreKnown(String command, String said, String holes) {
    Fact own = debian.judge(tool(command), OWN, said);
    if (holes == null) {
      assertThat(own.good()).isTrue();
      assertThat(own.fix()).isEmpty();
    } else {
      assertThat(own.good()).isFalse();
      assertThat(own.value()).contains(" has " + holes);
      assertThat(own.fix()).startsWith("install ").endsWith(" or newer");
    }
    Fact brought = debian.judge(tool(command), BROUGHT, said);
    assertThat(brought.good()).as("a distribution may have closed it").isTrue();
    assertThat(brought.warns()).isEqualTo(holes != null);
  }

  @Test
  void aDistributionsPatchesAreShown() {
    Fact runc =
        debian.judge(
            tool("runc"), BROUGHT, "runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1+deb12u1\n");
    assertThat(runc.value()).isEqualTo("1.1.5+ds1 (package 1.1.5+ds1-1+deb12u1), " + BROUGHT);
    assertThat(runc.fix())
        .isEqualTo(
            "check that your distribution's package has the fixes for CVE-2024-21626,"
                + " CVE-2025-31133, CVE-2025-52565, CVE-2025-52881 (upstream: 1.2.8 or 1.3.3 or"
                + " newer)");
  }

  @Test
  void aHoleOfSetuidNeedsTheBit() throws IOException {
    Path program = script("bwrap", "echo bubblewrap 0.11.1");
    Tools tools = new Tools(List.of(folder), Packages.OTHER, Map.of());
    assertThat(tools.facts(List.of(tool("bwrap")))).singleElement().matches(Fact::good);
    Files.setAttribute(program, "unix:mode", 0104755);
    assertThat(tools.facts(List.of(tool("bwrap"))))
        .singleElement()
        .satisfies(fact -> assertThat(fact.value()).contains("0.11.1", " has CVE-2026-41163"));
  }

  @Test
  void whatIsMissingSaysWhatItWouldGive() {
    Tools none = new Tools(List.of(folder), Packages.DEBIAN, Map.of());
    assertThat(none.facts(List.of(tool("bwrap"), tool("runsc"))))
        .containsExactly(
            Fact.bad(
                "bwrap",
                "not installed: namespaces without a daemon (provider bubblewrap)",
                "apt install bubblewrap"),
            Fact.bad(
                "runsc",
                "not installed: gVisor, a kernel of its own for each sandbox (provider oci)",
                "apt install runsc"));
    Tools elsewhere = new Tools(List.of(folder), Packages.FEDORA, Map.of());
    assertThat(elsewhere.facts(List.of(tool("ip"), tool("runsc"))))
        .extracting(Fact::fix)
        .containsExactly("dnf install iproute", "install runsc as its project says");
  }

  @Test
  void aProgramThatSaysNothingIsStillThere() throws IOException {
    script("pasta", "echo 'pasta unknown version, see https://example.org/agpl-3.0.html'");
    script("newuidmap", "exit 1");
    script("nft", "exec sleep 1000 > /dev/null 2>&1");
    Tools tools = new Tools(List.of(folder), Packages.OTHER, Map.of());
    assertThat(tools.facts(List.of(tool("pasta"), tool("newuidmap"), tool("nft"))))
        .allMatch(Fact::good)
        .extracting(Fact::value)
        .allSatisfy(value -> assertThat(value).startsWith("version unknown, " + folder));
  }

  @Test
  void everyToolIsDescribedOnce() {
    assertThat(Tool.ALL).extracting(Tool::command).doesNotHaveDuplicates();
    assertThat(Tool.ALL).allSatisfy(tool -> assertThat(tool.gives()).isNotBlank());
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
  void eachDistributionInstallsInItsOwnWay(String osRelease, String command) {
    assertThat(Packages.of(osRelease).install("x")).isEqualTo(command);
  }

  @Test
  void onlyWhatIsInstalledHasAVersion() {
    assertThat(
            Packages.installed(
                """
                Package: runc
                Status: install ok installed
                Version: 1.1.5+ds1-1+deb12u1

                Package: crun
                Status: deinstall ok config-files
                Version: 1.8.1-1
                """))
        .isEqualTo(Map.of("runc", "1.1.5+ds1-1+deb12u1"));
  }

  private Path script(String name, String text) throws IOException {
    Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + text + "\n");
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
