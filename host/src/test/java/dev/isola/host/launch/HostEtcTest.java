package dev.isola.host.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a sandbox on the host's root sees of /etc and of the installation. */
final class HostEtcTest {
  @TempDir Path etc;

  @BeforeEach
  void makeEtc() throws IOException {
    file("ld.so.cache", "rw-r--r--");
    file("nsswitch.conf", "rw-r--r--");
    file("profile", "rw-------");
    file("alpine-release", "rw-r--r--");
    Files.createSymbolicLink(etc.resolve("localtime"), Path.of("/usr/share/zoneinfo/UTC"));
    file("ssl/certs/ca.pem", "rw-r--r--");
    file("ssl/private/host.key", "rw-r--r--");
    file("python3.11/sitecustomize.py", "rw-r--r--");
    file("isola/isola.yaml", "rw-r--r--");
    file("new-service/token", "rw-r--r--");
    file("shadow", "rw-r--r--");
    file("npmrc", "rw-r--r--");
  }

  private void file(String name, String mode) throws IOException {
    Path file = etc.resolve(name);
    Files.createDirectories(file.getParent() == null ? etc : file.getParent());
    Files.writeString(file, "content");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  private String planned() throws IOException {
    LaunchPlan plan = new LaunchPlan();
    new HostEtc(etc).plan(plan);
    return new String(plan.encode(), StandardCharsets.ISO_8859_1);
  }

  @Test
  void allowedFilesAreVisible() throws IOException {
    assertThat(planned())
        .contains(
            "/etc/ld.so.cache",
            "/etc/nsswitch.conf",
            "/etc/alpine-release",
            "/usr/share/zoneinfo/UTC",
            "/etc/ssl/certs",
            "/etc/python3.11");
  }

  @Test
  void otherFilesAreHidden() throws IOException {
    assertThat(planned()).doesNotContain("private", "isola.yaml", "new-service", "shadow", "npmrc");
  }

  @Test
  void privateFilesAreNotCopied() throws IOException {
    assertThat(planned()).doesNotContain("/etc/profile");
  }

  @Test
  void installationAndConfigurationAreHidden() throws IOException {
    Path config = Files.writeString(etc.resolve("my.yaml"), "");

    assertThat(InstallationPaths.existing(Map.of("ISOLA_CONFIG", config.toString())))
        .contains(config.toRealPath());
    assertThat(
            InstallationPaths.program(
                URI.create("file:/opt/isola-0.1/lib/isola-host.jar").toURL(), ""))
        .contains(Path.of("/opt/isola-0.1/lib/isola-host.jar"));
    assertThat(
            InstallationPaths.program(
                null, "/opt/isola-0.1/lib/isola-codec-1.jar:/opt/isola-0.1/lib/isola-host-1.jar"))
        .as("the location of a class from a moved AOT cache is not known")
        .contains(Path.of("/opt/isola-0.1/lib/isola-host-1.jar"));
    assertThat(InstallationPaths.program(null, "")).isEmpty();
    assertThat(InstallationPaths.top(Path.of("/opt/isola-0.1/lib/isola-host.jar")))
        .isEqualTo(Optional.of(Path.of("/opt/isola-0.1")));
    assertThat(InstallationPaths.top(Path.of("/usr/share/java/isola-host.jar"))).isEmpty();
    assertThat(List.of(InstallationPaths.top(Path.of("/usr/lib/isola/lib/x.jar")).orElseThrow()))
        .containsExactly(Path.of("/usr/lib/isola"));
  }
}
