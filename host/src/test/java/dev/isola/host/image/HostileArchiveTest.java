package dev.isola.host.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.isola.archive.ArchivePaths;
import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarReader;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Malicious archives are rejected as a whole and change nothing outside the image. */
class HostileArchiveTest {
  private static final String ABSOLUTE = "/tmp/isola-hostile-" + ProcessHandle.current().pid();

  private final ImageFixture images = new ImageFixture();

  /** The target of the archives: two levels above the root of an image. */
  private final Path outside = images.scratch.path().resolve("outside");

  @AfterEach
  void close() throws IOException {
    Files.deleteIfExists(Path.of(ABSOLUTE));
    images.close();
  }

  private static TarBuilder good() {
    return new TarBuilder().folder("etc").file("etc/hostname", "good");
  }

  static Stream<Arguments> hostile() {
    String steps = "../".repeat(8);
    byte[] whole = good().bytes();
    return Stream.of(
        refused("a name with ..", good().file(steps + "x", "bad"), "leads out"),
        refused("a name with .. inside", good().file("etc/../../x", "bad"), "leads out"),
        refused("a folder named ..", good().folder(".."), "leads out"),
        refused("a link named ..", good().link("..", "/etc"), "leads out"),
        refused(
            "through a link of its own",
            good().link("out", "../../../../outside").file("out/x", "bad"),
            "leads through a symbolic link"),
        refused(
            "through an absolute link",
            good().link("out", "/").file("out" + ABSOLUTE, "bad"),
            "leads through a symbolic link"),
        refused(
            "a folder through a link",
            good().link("out", "../../../../outside").folder("out/made"),
            "leads through a symbolic link"),
        refused(
            "a link through a link",
            good().link("out", "../../../../outside").link("out/x", "y"),
            "leads through a symbolic link"),
        refused(
            "a hard link through a link",
            good().link("out", "../../../../outside").hardLink("mine", "out/kept"),
            "leads through a symbolic link"),
        refused("a hard link out", good().hardLink("x", steps + "etc/passwd"), "leads out"),
        refused("a hard link to nothing", good().hardLink("x", "nothing"), "missing target"),
        refused("a hard link to a folder", good().hardLink("x", "etc"), "to a folder"),
        refused("below a file", good().file("etc/hostname/x", "bad"), "not a folder"),
        refused("a root that is a file", good().link(".", "/etc"), "must be a folder"),
        refused("a link without a target", good().link("x", ""), "target"),
        refused("a zero byte", good().pax("path=a\0b").file("x", "bad"), "zero byte"),
        refused("a long name", good().pax("path=" + "n".repeat(256)).file("x", ""), "longer than"),
        refused(
            "a long path", good().pax("path=" + "a/".repeat(2100)).file("x", ""), "longer than"),
        refused("an owner out of range", good().pax("uid=4294967295").file("x", ""), "owner"),
        refused("a size that is none", good().pax("size=-1").file("x", ""), "not a number"),
        refused(
            "a header of a gigabyte",
            good().entry("pax", 'x', "", 1 << 30, new byte[0]),
            "a header of"),
        refused(
            "a header that is nonsense",
            good().entry("p", 'x', "", 3, "3 x".getBytes(StandardCharsets.UTF_8)),
            "cannot be read"),
        refused("an unknown entry type", good().special("x", 'Q'), "kind"),
        refused("a sparse file", good().pax("GNU.sparse.major=1").file("x", ""), "sparse"),
        refused("content of a folder", good().entry("d", '5', "", 4, new byte[4]), "no file"),
        refused(
            "a damaged header",
            good().raw("x".repeat(512).getBytes(StandardCharsets.UTF_8)),
            "not a tar"),
        Arguments.of("no end", good().unended(), "truncated"),
        Arguments.of("an end in the middle", Arrays.copyOf(whole, 1100), "cut off"),
        Arguments.of("a packed one cut off", Arrays.copyOf(TarBuilder.gzip(whole), 60), ""),
        Arguments.of("nothing", new byte[0], "truncated"),
        Arguments.of("only its end", new byte[1024], "no files in"),
        Arguments.of("a zip", new byte[] {'P', 'K', 3, 4, 0, 0, 0, 0}, "zip"),
        Arguments.of(
            "a text", "#!/bin/sh\n".repeat(100).getBytes(StandardCharsets.UTF_8), "not a tar"));
  }

  private static Arguments refused(String what, TarBuilder archive, String why) {
    return Arguments.of(what, archive.bytes(), why);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("hostile")
  void maliciousArchiveIsRejectedWithoutEffects(String what, byte[] archive, String why)
      throws IOException {
    Files.createDirectory(outside);
    Files.writeString(outside.resolve("kept"), "kept");
    SandboxException refusal =
        catchThrowableOfType(SandboxException.class, () -> images.add("bad", archive));
    assertThat(refusal).as(what).isNotNull().hasMessageContaining(why);
    assertThat(refusal.code()).isEqualTo(ErrorCode.BAD_ARCHIVE);
    assertThat(refusal.fault().remedy()).isNotEmpty();
    assertThat(images.store.find("bad")).isEmpty();
    assertThat(images.leftovers()).isEmpty();
    assertThat(outside).isDirectoryContaining("glob:**/kept").isDirectoryNotContaining("glob:**/x");
    assertThat(Path.of(ABSOLUTE)).doesNotExist();
    assertThat(ImageFixture.names(images.scratch.path()))
        .containsExactlyInAnyOrder("data", "outside");
  }

  @Test
  void validArchiveIsAccepted() throws IOException {
    Image image = images.add("good", good().bytes());
    assertThat(ImageFixture.text(image, "etc/hostname")).isEqualTo("good");
    assertThat(images.add("packed", good().gzip()).digest()).isEqualTo(image.digest());
  }

  /** Positive control: the same archives escape from an unpacker that trusts them. */
  @Test
  void trustingUnpackerIsEscaped() throws IOException {
    Files.createDirectory(outside);
    Path root = images.scratch.path().resolve("a/b/c/root");
    believe(root, good().file("../../../../outside/dots", "out"));
    believe(root, good().link("out", "../../../../outside").file("out/link", "out"));
    assertThat(outside.resolve("dots")).exists();
    assertThat(outside.resolve("link")).exists();
  }

  private static void believe(Path root, TarBuilder archive) throws IOException {
    TarReader reader =
        new TarReader(new ByteArrayInputStream(archive.bytes()), ArchivePaths::badArchive);
    Files.createDirectories(root);
    for (Optional<TarEntry> next = reader.next(); next.isPresent(); next = reader.next()) {
      Path path = root.resolve(next.get().path());
      switch (next.get().kind()) {
        case FOLDER -> Files.createDirectories(path);
        case LINK -> Files.createSymbolicLink(path, Path.of(next.get().target()));
        default -> Files.copy(reader.content(), path, StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  @Test
  void absoluteNameIsUnpackedBelowTheRoot() throws IOException {
    Image image =
        images.add("absolute", good().file(ABSOLUTE, "in").hardLink("/two", ABSOLUTE).bytes());
    assertThat(ImageFixture.text(image, ABSOLUTE.substring(1))).isEqualTo("in");
    assertThat(ImageFixture.text(image, "two")).isEqualTo("in");
    assertThat(Path.of(ABSOLUTE)).doesNotExist();
  }

  @Test
  void fileReplacesAnExistingPath() throws IOException {
    Files.createDirectory(outside);
    Path victim = Files.writeString(outside.resolve("victim"), "untouched");
    Image image =
        images.add(
            "links",
            good()
                .link("way", victim.toString())
                .file("way", "replaced")
                .file("one", "first")
                .hardLink("two", "one")
                .file("two", "second")
                .bytes());
    assertThat(victim).hasContent("untouched");
    assertThat(ImageFixture.text(image, "way")).isEqualTo("replaced");
    assertThat(ImageFixture.text(image, "one")).isEqualTo("first");
    assertThat(ImageFixture.text(image, "two")).isEqualTo("second");
  }

  @Test
  void symbolicLinksArePreservedAndNotFollowed() throws IOException {
    Image image = images.add("links", good().link("out", "../../../../etc/passwd").bytes());
    assertThat(Files.readSymbolicLink(image.rootfs().resolve("out")))
        .isEqualTo(Path.of("../../../../etc/passwd"));
    assertThat(images.store.check("links").passed()).isTrue();
  }

  @Test
  void specialFilesAreSkippedWithAWarning() {
    Image image =
        images.add(
            "devices",
            good().special("dev/sda", '4').special("dev/null", '3').special("pipe", '6').bytes());
    assertThat(image.notes())
        .anySatisfy(
            note ->
                assertThat(note)
                    .isEqualTo("3 devices, pipes or sockets are left out, such as dev/sda"));
    assertThat(ImageFixture.exists(image, "dev/sda")).isFalse();
    assertThat(ImageFixture.exists(image, "pipe")).isFalse();
  }

  @Test
  void hostAttributesAreSkipped() {
    Image image =
        images.add(
            "attributes",
            good()
                .pax("SCHILY.xattr.trusted.overlay.opaque=y", "SCHILY.xattr.user.overlay.opaque=y")
                .file("x", "")
                .bytes());
    assertThat(image.notes())
        .anyMatch(note -> note.contains("trusted.overlay.opaque"))
        .anyMatch(note -> note.contains("user.overlay.opaque"));
  }

  @Test
  void mountPointsAreRealFolders() throws IOException {
    Image image =
        images.add(
            "mounts",
            good().link("workspace", "/etc").link("home", "/root").file("proc", "").bytes());
    for (String folder : new String[] {"workspace", "home", "home/user", "proc", ".isola"}) {
      assertThat(Files.isDirectory(image.rootfs().resolve(folder), LinkOption.NOFOLLOW_LINKS))
          .as(folder)
          .isTrue();
    }
    assertThat(ImageFixture.mode(image.rootfs().resolve("tmp"))).isEqualTo(01777);
  }

  @Test
  void imageLimitsAreEnforced() {
    byte[] archive = good().file("big", "x".repeat(10_000)).bytes();
    assertThat(images.add("fits", archive, new ImageLimits(20_000, 3), false).name())
        .isEqualTo("fits");
    assertThatThrownBy(() -> images.add("files", archive, new ImageLimits(20_000, 2), false))
        .hasMessageContaining("more than 2 files")
        .hasMessageContaining("--max-files");
    assertThatThrownBy(() -> images.add("size", archive, new ImageLimits(9_000, 3), false))
        .hasMessageContaining("more than 9000 bytes");
    assertThat(images.leftovers()).isEmpty();
  }

  @Test
  void decompressionBombIsStopped() {
    byte[] bomb = TarBuilder.gzip(good().file("zeros", "\0".repeat(30 << 20)).bytes());
    assertThat(bomb.length).isLessThan(100_000);
    assertThatThrownBy(() -> images.add("bomb", bomb, new ImageLimits(1 << 20, 100), false))
        .isInstanceOf(SandboxException.class)
        .hasMessageContaining("more than 1048576 bytes");
  }

  @Test
  void trailingDataCountsAgainstTheLimit() {
    byte[] bomb = TarBuilder.gzip(good().raw(new byte[30 << 20]).bytes());
    assertThatThrownBy(() -> images.add("bomb", bomb, new ImageLimits(1 << 20, 100), false))
        .hasMessageContaining("more than 1048576 bytes");
  }
}
