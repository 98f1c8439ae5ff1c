package dev.isola.host.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Generated OCI layouts: layers, whiteouts, digests, platforms. */
class OciSourceTest {
  private final ImageFixture images = new ImageFixture();

  @AfterEach
  void close() {
    images.close();
  }

  private OciBuilder oci() {
    return new OciBuilder(images.scratch.path().resolve("layout"));
  }

  private static TarBuilder base() {
    return new TarBuilder()
        .folder("etc")
        .file("etc/kept", "1")
        .file("etc/gone", "1")
        .file("etc/changed", "1")
        .folder("cache")
        .file("cache/old", "1")
        .folder("cache/sub")
        .file("cache/sub/old", "1")
        .folder("tree")
        .folder("tree/deep")
        .file("tree/deep/file", "1")
        .link("link", "etc")
        .file("shared", "1")
        .hardLink("twin", "shared");
  }

  private static List<String> paths(Image image) throws IOException {
    try (Stream<Path> all = Files.walk(image.rootfs())) {
      return all.map(path -> image.rootfs().relativize(path).toString())
          .filter(path -> path.matches("(etc|cache|tree|link|shared|twin|.*wh).*"))
          .sorted()
          .toList();
    }
  }

  @Test
  void upperLayersHideAndReplaceLowerOnes() throws IOException {
    TarBuilder top =
        new TarBuilder()
            .file("etc/changed", "2")
            .file("etc/.wh.gone", "")
            .file("etc/.wh.never-there", "")
            .folder("cache")
            .file("cache/new", "2") // before the opaque marker, and stays
            .folder("cache/sub")
            .file("cache/sub/new", "2")
            .file("cache/.wh..wh..opq", "")
            .file("cache/newer", "2")
            .file("cache/.wh..wh.plnk", "")
            .file(".wh.tree", "")
            .folder("link") // a folder replaces the link
            .file("link/inside", "2")
            .file("shared", "2"); // its other hard link is not written to
    Image image = images.add("two", oci().layer(base()).layer(top).manifest("").source());
    assertThat(paths(image))
        .containsExactly(
            "cache",
            "cache/new",
            "cache/newer",
            "cache/sub",
            "cache/sub/new",
            "etc",
            "etc/changed",
            "etc/kept",
            "link",
            "link/inside",
            "shared",
            "twin");
    assertThat(ImageFixture.text(image, "etc/changed")).isEqualTo("2");
    assertThat(ImageFixture.text(image, "shared")).isEqualTo("2");
    assertThat(ImageFixture.text(image, "twin")).isEqualTo("1");
  }

  @Test
  void whiteoutAffectsOnlyLowerLayers() throws IOException {
    TarBuilder top =
        new TarBuilder()
            .file("etc/gone", "2")
            .file("etc/.wh.gone", "")
            .file(".wh.tree", "")
            .folder("tree")
            .file("tree/new", "2");
    Image image = images.add("own", oci().layer(base()).layer(top).manifest("").source());
    assertThat(ImageFixture.text(image, "etc/gone")).isEqualTo("2");
    assertThat(paths(image)).contains("tree", "tree/new").doesNotContain("tree/deep");
  }

  @Test
  void rootCanBeOpaque() throws IOException {
    TarBuilder top = new TarBuilder().file(".wh..wh..opq", "").file("etc/only", "2");
    Image image = images.add("opaque", oci().layer(base()).layer(top).manifest("").source());
    assertThat(paths(image)).containsExactly("etc", "etc/only");
  }

  @Test
  void whiteoutIsAnOrdinaryFileInATarArchive() {
    Image image = images.add("plain", base().file("etc/.wh.gone", "").bytes());
    assertThat(ImageFixture.exists(image, "etc/.wh.gone")).isTrue();
    assertThat(ImageFixture.exists(image, "etc/gone")).isTrue();
  }

  @Test
  void symbolicLinksOfLowerLayersAreNotFollowed() throws IOException {
    Path outside = Files.createDirectory(images.scratch.path().resolve("outside"));
    Files.writeString(outside.resolve("kept"), "kept");
    for (TarBuilder top :
        List.of(
            new TarBuilder().file("out/x", "bad"),
            new TarBuilder().folder("out/x"),
            new TarBuilder().file("out/.wh.kept", ""),
            new TarBuilder().file("out/.wh..wh..opq", ""),
            new TarBuilder().hardLink("mine", "out/kept"))) {
      OciBuilder layout =
          oci().layer(base().link("out", outside.toString())).layer(top).manifest("");
      assertRefused(layout.source(), "leads through a symbolic link");
    }
    assertThat(outside.resolve("kept")).hasContent("kept");
    assertThat(outside).isDirectoryNotContaining("glob:**/x");
  }

  @ParameterizedTest
  @ValueSource(strings = {".wh.", ".wh..", ".wh...", "etc/.wh..."})
  void invalidWhiteoutIsRejected(String name) {
    assertRefused(
        oci().layer(base()).layer(new TarBuilder().file(name, "")).manifest("").source(),
        "whiteout");
  }

  @Test
  void blobWithAWrongDigestIsRejected() throws IOException {
    OciSource source = oci().layer(base()).manifest("").source();
    images.add("control", source);
    try (Stream<Path> blobs = Files.list(oci().folder.resolve("blobs/sha256"))) {
      List<Path> all = blobs.toList();
      assertThat(all).hasSize(3); // manifest, configuration, layer
      for (Path blob : all) {
        byte[] content = Files.readAllBytes(blob);
        byte[] other = content.clone();
        // The modification time in the gzip header: the content is unchanged, but the digest is
        // not.
        other[4] ^= 1;
        Files.write(blob, other);
        assertRefused(source, "does not match its digest");
        Files.write(blob, Arrays.copyOf(content, content.length + 1));
        assertRefused(source, "does not match its digest");
        Files.delete(blob);
        assertRefused(source, "is missing");
        Files.write(blob, content);
      }
    }
    images.add("control-again", source);
  }

  @Test
  void layerWithAWrongDiffIdIsRejected() {
    assertRefused(
        oci().layer(base().gzip(), base().file("more", "").bytes()).manifest("").source(),
        "the content of a layer does not match its digest");
  }

  @Test
  void digestIsNotUsedAsAPath() throws IOException {
    OciBuilder layout = oci().layer(base()).manifest("");
    OciSource source = layout.source();
    Path index = layout.folder.resolve("index.json");
    Files.writeString(
        index,
        Files.readString(index).replaceFirst("sha256:[0-9a-f]{64}", "sha256:../../../index.json"));
    assertRefused(source, "which is not a sha256 digest");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "[]",
        "{\"manifests\":7}",
        "{\"manifests\":[7]}",
        "{\"manifests\":[{}]}",
        "{\"manifests\":[{\"digest\":\"sha256:x\",\"size\":1}]}",
        "{\"manifests\":[], \"manifests\":[]}"
      })
  void malformedIndexIsRejected(String text) throws IOException {
    OciSource source = oci().source();
    Files.writeString(oci().folder.resolve("index.json"), text);
    assertRefused(source, "");
  }

  @Test
  void manifestForThisPlatformIsChosen() throws IOException {
    String other = Architecture.ofHost().equals("amd64") ? "arm64" : "amd64";
    OciBuilder layout = oci();
    layout.architecture = other;
    layout.layer(new TarBuilder().file("wrong", "")).manifest(OciBuilder.platform(other));
    layout.architecture = Architecture.ofHost();
    layout
        .layer(new TarBuilder().file("right", ""))
        .manifest(OciBuilder.platform(Architecture.ofHost()));
    Image image = images.add("flat", layout.source());
    assertThat(ImageFixture.exists(image, "right")).isTrue();
    assertThat(image.architecture()).isEqualTo(Architecture.ofHost());
    assertThat(images.add("nested", layout.nested().source()).digest()).isEqualTo(image.digest());
  }

  @Test
  void imageForAnotherPlatformIsRejected() {
    OciBuilder layout = oci();
    layout.architecture = "s390x";
    layout.layer(base()).manifest("");
    assertThatThrownBy(() -> images.add("foreign", layout.source()))
        .hasMessageContaining("the image is for linux/s390x");
    OciBuilder listed = oci();
    listed.layer(base()).manifest(OciBuilder.platform("s390x"));
    assertThatThrownBy(() -> images.add("foreign", listed.source()))
        .hasMessageContaining("no image for linux/" + Architecture.ofHost())
        .hasMessageContaining("available: linux/s390x");
  }

  @Test
  void cyclicIndexIsRejected() {
    OciBuilder layout = oci().layer(base()).manifest("");
    for (int i = 0; i < 3; i++) {
      layout.nested();
    }
    images.add("deep", layout.source());
    for (int i = 0; i < 3; i++) {
      layout.nested();
    }
    assertRefused(layout.source(), "too deeply");
  }

  @Test
  void tagSelectsAnImage() throws IOException {
    OciBuilder layout = oci();
    layout.layer(new TarBuilder().file("one", "")).manifest(OciBuilder.tag("v1"));
    layout.layer(new TarBuilder().file("two", "")).manifest(OciBuilder.tag("v2"));
    assertThat(ImageFixture.exists(images.add("v2", layout.source("v2")), "two")).isTrue();
    assertThatThrownBy(() -> images.add("none", layout.source("v3")))
        .hasMessageContaining("tagged 'v3'")
        .hasMessageContaining("v1, v2");
    assertThatThrownBy(() -> images.add("any", layout.source()))
        .hasMessageContaining("2 images")
        .hasMessageContaining("oci:FOLDER:TAG");
    String folder = layout.folder.toString();
    assertThat(images.add("by-name", ImageSource.reference("oci:" + folder + ":v1")).source())
        .isEqualTo("oci:" + folder + ":v1");
  }

  @Test
  void imageConfigurationIsPreserved() {
    OciBuilder layout = oci();
    layout.run =
        """
        {"Env":["PATH=/usr/bin:/bin","EMPTY=","odd"],"User":"1000:1000","WorkingDir":"/srv",
         "Cmd":["sh"],"Labels":{"a":"b"},"ExposedPorts":null}\
        """;
    Image image = images.add("config", layout.layer(base()).manifest("").source());
    assertThat(image.env()).isEqualTo(Map.of("PATH", "/usr/bin:/bin", "EMPTY", ""));
    assertThat(image.user()).contains("1000:1000");
    assertThat(image.workdir()).contains("/srv");
    assertThat(image.notes()).anyMatch(note -> note.endsWith("NAME=VALUE: odd"));
  }

  @Test
  void layersMayUseAnyCompression() {
    byte[] tar = base().bytes();
    String digest = images.add("gzip", oci().layer(base()).manifest("").source()).digest();
    assertThat(images.add("plain", oci().layer(tar, tar).manifest("").source()).digest())
        .isEqualTo(digest);
    byte[] half = TarBuilder.gzip(Arrays.copyOf(tar, 1000));
    byte[] rest = TarBuilder.gzip(Arrays.copyOfRange(tar, 1000, tar.length));
    byte[] members = Arrays.copyOf(half, half.length + rest.length);
    System.arraycopy(rest, 0, members, half.length, rest.length);
    assertThat(images.add("members", oci().layer(members, tar).manifest("").source()).digest())
        .isEqualTo(digest);
  }

  @Test
  void zstdIsDecompressedByTheZstdProgram() throws IOException {
    ImageFixture.needProgram("zstd");
    Path tar = Files.write(images.scratch.path().resolve("layer.tar"), base().bytes());
    ImageFixture.run(images.scratch.path(), "zstd", "-q", tar.toString());
    byte[] packed = Files.readAllBytes(images.scratch.path().resolve("layer.tar.zst"));
    Image image = images.add("zstd", oci().layer(packed, base().bytes()).manifest("").source());
    assertThat(image.digest()).isEqualTo(images.add("plain", base().bytes()).digest());
    byte[] cut = Arrays.copyOf(packed, packed.length - 10);
    assertRefused(oci().layer(cut, base().bytes()).manifest("").source(), "zstd");
  }

  @Test
  void skopeoFetchesOtherReferences() {
    ImageFixture.needProgram("skopeo");
    OciBuilder layout = oci().layer(base()).manifest("");
    Image direct = images.add("direct", layout.source());
    Path archive = images.scratch.path().resolve("archive.tar");
    try {
      ImageFixture.run(
          images.scratch.path(),
          "skopeo",
          "copy",
          "-q",
          "oci:" + layout.folder,
          "docker-archive:" + archive + ":test:latest");
    } catch (IllegalStateException e) {
      abort("NOT RUN: skopeo cannot write an archive here: " + e.getMessage());
    }
    Image fetched = images.add("fetched", ImageSource.reference("docker-archive:" + archive));
    assertThat(fetched.digest()).isEqualTo(direct.digest());
    assertThat(images.add("file", ImageSource.reference(archive.toString())).digest())
        .isEqualTo(direct.digest());
    assertThatThrownBy(() -> images.add("no", ImageSource.reference("docker-archive:/no/such")))
        .isInstanceOf(SandboxException.class)
        .hasMessageContaining("skopeo failed")
        .hasMessageContaining("/no/such");
    assertThat(images.leftovers()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-x", "/no/such", "./no/such", "oci:/no/such:tag"})
  void invalidReferenceIsRejected(String reference) {
    SandboxException refusal =
        catchThrowableOfType(
            SandboxException.class, () -> images.add("no", ImageSource.reference(reference)));
    assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_REQUEST);
    assertThat(refusal.fault().remedy()).isNotEmpty();
  }

  private void assertRefused(ImageSource source, String why) {
    SandboxException refusal =
        catchThrowableOfType(SandboxException.class, () -> images.add("bad", source));
    assertThat(refusal).isNotNull().hasMessageContaining(why);
    assertThat(refusal.code()).isIn(ErrorCode.BAD_ARCHIVE, ErrorCode.INVALID_REQUEST);
    assertThat(images.store.find("bad")).isEmpty();
    assertThat(images.leftovers()).isEmpty();
  }
}
