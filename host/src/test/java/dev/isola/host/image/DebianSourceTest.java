package dev.isola.host.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.InvalidRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command lines of the tools; running them would need a mirror. */
class DebianSourceTest {
  @TempDir Path apt;

  private static DebianRecipe recipe(String... packages) {
    return DebianRecipe.of("debian:bookworm", List.of(packages), "minbase", Optional.empty());
  }

  private DebianSource source(DebianRecipe recipe) {
    return new DebianSource(recipe, new AptSources(apt));
  }

  private void sources(String name, String text) throws IOException {
    Files.createDirectories(apt.resolve("sources.list.d"));
    Files.writeString(apt.resolve(name), text);
  }

  @Test
  void packagesComeFromTheHostsMirror() throws IOException {
    sources(
        "sources.list",
        """
        # deb http://commented.example/debian bookworm main
        deb-src http://sources.example/debian bookworm main
        deb http://other.example/debian trixie main
        deb [arch=amd64 signed-by=/k.gpg] http://lines.example/debian bookworm main contrib # so
        """);
    sources(
        "sources.list.d/debian.sources",
        """
        Types: deb deb-src
        # where it is
        URIs: http://stanza.example/debian
        Suites: bookworm-updates
         bookworm-backports
        Components: main
        Signed-By: /other.gpg

        Types: deb
        URIs: http://off.example/debian
        Suites: bookworm
        Components: main
        Enabled: no

        Types: deb
        URIs: http://security.example/debian-security
        Suites: bookworm-security
        Components: main
        Signed-By:
         -----BEGIN PGP PUBLIC KEY BLOCK-----
        """);
    sources("sources.list.d/ignored.bak", "deb http://bak.example/debian bookworm main\n");
    assertThat(source(recipe("git", "curl")).mmdebstrapWords(true, List.of("A \"b\";")))
        .startsWith("--mode=root", "--variant=minbase", "--format=tar", "--include=git,curl")
        .contains("--aptopt=A \"b\";")
        .endsWith(
            "bookworm",
            "-",
            "deb [signed-by=/k.gpg] http://lines.example/debian bookworm main contrib",
            "deb [signed-by=/other.gpg] http://stanza.example/debian bookworm-updates main",
            "deb http://security.example/debian-security bookworm-security main");
    assertThat(source(recipe()).debootstrapWords(Path.of("/root")))
        .containsExactly(
            "--variant=minbase",
            "--keyring=/k.gpg",
            "bookworm",
            "/root",
            "http://lines.example/debian");
  }

  @Test
  void toolsUseTheirDefaultMirrorWithoutHostSources() throws IOException {
    assertThat(source(recipe()).mmdebstrapWords(false, List.of()))
        .startsWith("--mode=unshare")
        .endsWith("bookworm", "-");
    sources("sources.list", "deb http://x.example/debian bookworm-security main\n");
    assertThat(source(recipe()).mmdebstrapWords(true, List.of())).endsWith("bookworm", "-");
    DebianRecipe mirrored =
        DebianRecipe.of("debian:sid", List.of(), "apt", Optional.of("http://m.example/debian"));
    assertThat(source(mirrored).mmdebstrapWords(true, List.of()))
        .endsWith("sid", "-", "http://m.example/debian");
  }

  @Test
  void baseRecipeHasPackagesAndUser() {
    DebianRecipe python = recipe("git", "jq").asReady("python");
    assertThat(python.packages())
        .startsWith("bash", "python3", "python-is-python3", "python3-pip", "git")
        .endsWith("procps", "python3-venv", "jq");
    assertThat(python.account()).isTrue();
    assertThat(python.defaults().env()).containsEntry("PIP_BREAK_SYSTEM_PACKAGES", "1");
    assertThat(recipe().asReady("base")).isEqualTo(recipe().asBase());
    assertThat(recipe().asReady("full").packages())
        .containsAll(recipe().asReady("python").packages())
        .containsAll(recipe().asReady("node").packages())
        .containsAll(recipe().asReady("java").packages());
    DebianRecipe base = recipe("git", "jq").asBase();
    assertThat(base.packages())
        .containsExactly(
            "bash",
            "python3",
            "python-is-python3",
            "python3-pip",
            "git",
            "curl",
            "sudo",
            "ca-certificates",
            "procps",
            "jq");
    assertThat(base.defaults().env()).containsEntry("PIP_BREAK_SYSTEM_PACKAGES", "1");
    assertThat(base.defaults().user()).contains("user");
    assertThat(base.defaults().workdir()).contains("/home/user");
    assertThat(source(base).mmdebstrapWords(true, List.of()).toString())
        .contains("useradd --uid 1000", "NOPASSWD");
    assertThat(source(recipe()).mmdebstrapWords(true, List.of()).toString())
        .doesNotContain("useradd");
    assertThat(source(base).description()).startsWith("debian:bookworm minbase with bash,python3,");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bookworm", "", ":", "debian:", ":sid", "debian:--help", "a b:c", "D:x"})
  void invalidDistributionIsRejected(String from) {
    assertThatThrownBy(() -> DebianRecipe.of(from, List.of(), "minbase", Optional.empty()))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("debian:bookworm");
  }

  @Test
  void optionAndShellInjectionIsRejected() {
    for (String name : List.of("--x", "", "a;b", "a b", "A", "$(x)", "?essential")) {
      assertThatThrownBy(() -> recipe(name)).isInstanceOf(InvalidRequest.class);
    }
    for (String mirror : List.of("", "--x", "http://a b", "x", "deb http://x y")) {
      assertThatThrownBy(
              () -> DebianRecipe.of("debian:sid", List.of(), "minbase", Optional.of(mirror)))
          .isInstanceOf(InvalidRequest.class);
    }
    assertThatThrownBy(() -> DebianRecipe.of("debian:sid", List.of(), "-", Optional.empty()))
        .isInstanceOf(InvalidRequest.class);
  }
}
