package dev.isola.host.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.isola.archive.ArchivePaths;
import dev.isola.codec.tar.TarEntry;
import dev.isola.codec.tar.TarReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Imports whole trees created with common programs and compares the results. */
class ImageRoundTripTest {
  private static final String ODD = "odd \u00ff\u00fe\n%41 name"; // bytes that are not valid UTF-8

  private final ImageFixture images = new ImageFixture();

  @AfterEach
  void close() {
    images.close();
  }

  /** Creates a tree with a file of every type. */
  private Path tree() throws IOException {
    Path root = Files.createDirectory(images.scratch.path().resolve("tree"));
    Path deep = Files.createDirectories(root.resolve("a/" + "deep/".repeat(30) + "n".repeat(200)));
    Files.writeString(deep.resolve("file-" + "x".repeat(150)), "deep");
    Files.writeString(root.resolve("plain"), "content");
    Files.write(root.resolve("big"), new byte[1 << 20]);
    Files.createLink(root.resolve("twin"), root.resolve("plain"));
    Files.createSymbolicLink(root.resolve("link"), Path.of("/etc/passwd"));
    Files.createSymbolicLink(root.resolve("long-link"), Path.of("t/".repeat(100) + "end"));
    Files.writeString(root.resolve("set-user-id"), "x");
    Files.setAttribute(root.resolve("set-user-id"), "unix:mode", 04755);
    Files.setAttribute(Files.createDirectory(root.resolve("sticky")), "unix:mode", 01777);
    Files.setAttribute(Files.createDirectory(root.resolve("closed")), "unix:mode", 0500);
    Files.setLastModifiedTime(
        root.resolve("plain"), FileTime.from(Instant.parse("2001-02-03T04:05:06Z")));
    return root;
  }

  @ParameterizedTest
  @ValueSource(strings = {"--format=gnu", "--format=pax", "--format=posix"})
  void archiveAndFolderYieldTheSameImage(String format) throws IOException {
    ImageFixture.needProgram("tar");
    Path root = tree();
    Path tar = images.scratch.path().resolve("tree.tar");
    ImageFixture.run(root, "tar", format, "-cf", tar.toString(), ".");
    Image folder = images.store.importFrom("folder", root);
    Image archive = images.store.importFrom("archive", tar);
    assertThat(archive.digest()).isEqualTo(folder.digest());
    assertThat(archive.files()).isGreaterThan(40);
    for (Image image : List.of(folder, archive)) {
      assertThat(ImageFixture.text(image, "plain")).isEqualTo("content");
      assertThat(Files.isSameFile(image.rootfs().resolve("plain"), image.rootfs().resolve("twin")))
          .isTrue();
      assertThat(Files.readSymbolicLink(image.rootfs().resolve("link")))
          .isEqualTo(Path.of("/etc/passwd"));
      assertThat(ImageFixture.mode(image.rootfs().resolve("set-user-id"))).isEqualTo(04755);
      assertThat(ImageFixture.mode(image.rootfs().resolve("sticky"))).isEqualTo(01777);
      assertThat(Files.getLastModifiedTime(image.rootfs().resolve("plain")).toInstant())
          .isEqualTo(Instant.parse("2001-02-03T04:05:06Z"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip", "zstd", "xz", "bzip2"})
  void compressedArchiveYieldsTheSameImage(String program) throws IOException {
    ImageFixture.needProgram(program);
    byte[] plain = new TarBuilder().file("etc/hostname", "x".repeat(5000)).bytes();
    Path tar = Files.write(images.scratch.path().resolve("a.tar"), plain);
    ImageFixture.run(images.scratch.path(), "sh", "-c", program + " -c a.tar > packed");
    Image packed = images.store.importFrom("packed", tar.resolveSibling("packed"));
    assertThat(packed.digest()).isEqualTo(images.add("plain", plain).digest());
  }

  @Test
  void fileNamesAreBytes() throws IOException {
    Image image = images.add("odd", new TarBuilder().file(ODD, "x").bytes());
    try (RootfsTree tree = new RootfsTree(image.rootfs())) {
      assertThat(tree.list("")).contains(ODD);
    }
    assertThat(
            Files.readString(
                image.rootfs().resolveSibling("contents"), StandardCharsets.ISO_8859_1))
        .contains(" odd%20\u00ff\u00fe%0A%2541%20name\n");
    assertThat(images.store.check("odd").passed()).isTrue();
    images.store.remove("odd");
  }

  @Test
  void rootPreservesOwners() throws IOException {
    ImageFixture.needRoot();
    TarBuilder tar =
        new TarBuilder()
            .as(0750, 7, 8)
            .folder("home")
            .as(06755, 1000, 1000)
            .file("home/tool", "x")
            .as(0777, 5, 5)
            .link("home/link", "tool")
            .as(0644, 70_000, 0)
            .file("far", "");
    Image image = images.add("owners", tar.bytes());
    assertThat(image.ownersKept()).isTrue();
    Path root = image.rootfs();
    assertThat(ImageFixture.uid(root.resolve("home"))).isEqualTo(7);
    assertThat(ImageFixture.mode(root.resolve("home"))).isEqualTo(0750);
    assertThat(ImageFixture.uid(root.resolve("home/tool"))).isEqualTo(1000);
    assertThat(ImageFixture.mode(root.resolve("home/tool"))).isEqualTo(06755);
    assertThat(ImageFixture.uid(root.resolve("home/link"))).isEqualTo(5);
    assertThat(image.notes())
        .contains(
            "1 files have owners with ids of 65536 or more, which sandboxes do not have: far");
  }

  @Test
  void ownersAreNotPreservedInANamespaceWithFewIds() throws IOException {
    Path map = images.scratch.path().resolve("uid_map");
    Files.writeString(map, "         0          0 4294967295\n");
    assertThat(Ownership.mappedIds(map)).isEqualTo(4294967295L);
    Files.writeString(map, "0 1000 1\n1 100000 65536\n");
    assertThat(Ownership.mappedIds(map)).isEqualTo(65537);
    Files.writeString(map, "0 1000 1\n");
    assertThat(Ownership.mappedIds(map)).isEqualTo(1);
    Files.writeString(map, "1000 1000 70000\n");
    assertThat(Ownership.mappedIds(map)).isZero();
  }

  @Test
  void withoutRootAllFilesBelongToTheCaller() throws IOException {
    Path root = Files.createDirectory(images.scratch.path().resolve("rootless"));
    TarBuilder tar =
        new TarBuilder().as(0, 1000, 1000).folder("d").file("d/f", "x").link("d/l", "f");
    ImportWarnings notes = new ImportWarnings();
    try (RootfsTree tree = new RootfsTree(root);
        Unpacker unpacker = new Unpacker(tree, false, new Budget(ImageLimits.DEFAULT), notes)) {
      TarReader reader =
          new TarReader(new ByteArrayInputStream(tar.bytes()), ArchivePaths::badArchive);
      for (Optional<TarEntry> next = reader.next(); next.isPresent(); next = reader.next()) {
        unpacker.put(next.get(), reader.content());
      }
      unpacker.finish();
    }
    int me = ImageFixture.uid(root);
    assertThat(ImageFixture.uid(root.resolve("d"))).isEqualTo(me);
    assertThat(ImageFixture.uid(root.resolve("d/f"))).isEqualTo(me);
    assertThat(ImageFixture.mode(root.resolve("d"))).isEqualTo(0700);
    assertThat(ImageFixture.mode(root.resolve("d/f"))).isEqualTo(0400);
  }

  @Test
  void fileCapabilitiesArePreserved() throws IOException {
    ImageFixture.needRoot();
    // cap_net_raw, as for ping
    String value = "\u0001\0\0\u0002\0 \0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    Image image =
        images.add(
            "caps",
            new TarBuilder()
                .pax("SCHILY.xattr.security.capability=" + value)
                .file("ping", "x")
                .bytes());
    try (RootfsTree tree = new RootfsTree(image.rootfs())) {
      int file = tree.open("ping", NativeFiles.RDONLY);
      assertThat(NativeAttributes.names(file)).contains("security.capability");
      NativeFiles.close(file);
    }
    assertThat(Files.readString(image.rootfs().resolveSibling("contents")))
        .contains("+security.capability=0100000200200000");
  }

  @Test
  void missingParentFoldersAreCreated() throws IOException {
    Image image = images.add("bare", new TarBuilder().file("usr/lib/x/y", "x").bytes());
    assertThat(ImageFixture.mode(image.rootfs().resolve("usr/lib"))).isEqualTo(0755);
    for (String folder :
        List.of("proc", "sys", "dev", "tmp", "run", "workspace", "home/user", ".isola")) {
      assertThat(image.rootfs().resolve(folder)).isDirectory();
    }
  }

  @Test
  void mountsAndTheImageStoreAreSkipped() throws IOException {
    Path root = Files.createDirectory(images.scratch.path().resolve("outer"));
    ImageStore inside = new ImageStore(root);
    Files.writeString(root.resolve("file"), "x");
    inside.importFrom("first", root);
    Image second = inside.importFrom("second", root);
    assertThat(ImageFixture.exists(second, "file")).isTrue();
    assertThat(ImageFixture.exists(second, "images")).isFalse();
  }

  @Test
  void treeDoesNotFollowSymbolicLinks() throws IOException {
    Path root = Files.createDirectory(images.scratch.path().resolve("links"));
    Files.createDirectory(root.resolve("real"));
    Files.writeString(root.resolve("real/file"), "x");
    Files.createSymbolicLink(root.resolve("link"), Path.of("real"));
    try (RootfsTree tree = new RootfsTree(root)) {
      assertThat(tree.stat("real/file")).isPresent();
      for (String path : List.of("link/file", "link")) {
        assertThatThrownBy(() -> tree.open(path, NativeFiles.RDONLY))
            .isInstanceOfSatisfying(
                NativeException.class, e -> assertThat(e.errno()).isEqualTo(NativeException.ELOOP));
      }
      assertThatThrownBy(() -> tree.open("../tree", NativeFiles.RDONLY))
          .isInstanceOf(NativeException.class);
    }
  }

  @Test
  void importedSystemRuns() throws IOException {
    ImageFixture.needRoot();
    ImageFixture.needProgram("busybox");
    ImageFixture.needProgram("chroot");
    Path root = Files.createDirectory(images.scratch.path().resolve("system"));
    Files.createDirectory(root.resolve("bin"));
    Files.copy(ExternalTool.find("busybox").orElseThrow(), root.resolve("bin/busybox"));
    Files.createSymbolicLink(root.resolve("bin/sh"), Path.of("busybox"));
    Image image = images.store.importFrom("busybox", root);
    assertThat(image.architecture()).isEqualTo(Architecture.ofHost());
    assertThat(Files.isSymbolicLink(image.rootfs().resolve("bin/sh"))).isTrue();
    assertThat(Files.exists(image.rootfs().resolve("bin/sh"), LinkOption.NOFOLLOW_LINKS)).isTrue();
    String answer;
    try {
      answer =
          ImageFixture.run(root, "chroot", image.rootfs().toString(), "/bin/sh", "-c", "echo runs");
    } catch (IllegalStateException e) {
      abort("NOT RUN: busybox is not static: " + e.getMessage());
      return;
    }
    assertThat(answer).isEqualTo("runs\n");
  }
}
