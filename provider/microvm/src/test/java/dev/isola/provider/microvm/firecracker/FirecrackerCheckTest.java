package dev.isola.provider.microvm.firecracker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.Health;
import dev.isola.spi.provider.Prerequisite;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is reported when Firecracker cannot be used; versions are those of scripts. */
class FirecrackerCheckTest {
  @TempDir Path folder;

  private Path kvm = Path.of("");

  @BeforeEach
  void install() throws IOException {
    kvm = Files.createFile(folder.resolve("kvm"));
    program("firecracker", "Firecracker v1.16.1");
    program("jailer", "Jailer v1.16.1");
  }

  private void program(String name, String output) throws IOException {
    StubProgram.write(folder.resolve(name), "#!/bin/sh\necho '" + output + "'\n");
  }

  private FirecrackerCheck check(boolean root) {
    ProviderConfig config =
        new ProviderConfig(
            Map.of(FirecrackerProgram.SETTING, folder.resolve("firecracker").toString()));
    return new FirecrackerCheck(FirecrackerProgram.find(config), root, kvm);
  }

  private String problem(boolean root) {
    return check(root).problem().map(one -> one.reason() + "; " + one.fix()).orElse("none");
  }

  @Test
  void everythingIsPresent() {
    assertThat(problem(true)).isEqualTo("none");
    assertThat(check(true).prerequisites())
        .allMatch(Prerequisite::present)
        .extracting(Prerequisite::detail)
        .containsExactly("accessible", "version 1.16.1", "used");
    assertThat(check(false).prerequisites().getLast().detail()).isEqualTo("not used without root");
  }

  @Test
  void missingKvmIsReportedFirst() throws IOException {
    Files.delete(kvm);
    Files.delete(folder.resolve("firecracker"));
    assertThat(problem(true))
        .startsWith(kvm + ": does not exist; use a machine with hardware virtualization")
        .contains("the provider qemu works without KVM");
  }

  @Test
  void missingProgramNamesTheReleasesOfTheProject() throws IOException {
    Files.delete(folder.resolve("firecracker"));
    assertThat(problem(false))
        .startsWith("firecracker: not installed; download a release of the project")
        .contains("firecracker-microvm/firecracker");
  }

  @Test
  void oldAndVulnerableVersionsAreRefused() throws IOException {
    program("firecracker", "Firecracker v1.15.0");
    assertThat(problem(false))
        .startsWith("firecracker: version 1.15.0 is older than 1.16.0, which has CVE-2026-5747;");
    program("firecracker", "Firecracker v1.14.0");
    assertThat(problem(false)).contains("which has CVE-2026-1386, CVE-2026-5747;");
    program("firecracker", "Firecracker v1.15.1");
    assertThat(problem(false)).startsWith("firecracker: version 1.15.1 is older than 1.16.0;");
    program("firecracker", "Firecracker v0.19.0");
    assertThat(problem(false)).contains("CVE-2019-18960", "CVE-2026-1386");
    program("firecracker", "usage: something else");
    assertThat(problem(false)).contains("--version does not report a version");
  }

  @Test
  void jailerIsNecessaryAsRootAndHasTheSameVersion() throws IOException {
    program("jailer", "Jailer v1.15.1");
    assertThat(problem(true)).contains("jailer has another version than Firecracker");
    assertThat(problem(false)).isEqualTo("none");
    Files.delete(folder.resolve("jailer"));
    assertThat(check(true).problem())
        .hasValueSatisfying(
            one ->
                assertThat(one)
                    .extracting(Health.Unhealthy::reason)
                    .isEqualTo("jailer: not installed"));
    assertThat(Optional.of(problem(false))).hasValue("none");
  }
}
