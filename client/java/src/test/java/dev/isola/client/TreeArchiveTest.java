package dev.isola.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Folders as tar archives. Archives from a sandbox are untrusted. */
class TreeArchiveTest {
  @TempDir Path folder;
  private final ByteArrayOutputStream archive = new ByteArrayOutputStream();
  private Path outside;
  private Path goal;

  @BeforeEach
  void folders() throws IOException {
    outside = Files.createDirectory(folder.resolve("outside"));
    Files.writeString(outside.resolve("secret"), "secret");
    goal = folder.resolve("goal");
  }

  /** Writes an entry manually, because the packer does not produce hostile archives. */
  private TreeArchiveTest entry(String name, char type, String content, String target) {
    byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
    byte[] block = new byte[512];
    put(block, 0, name);
    put(block, 100, "0000644");
    put(block, 124, "%011o".formatted(bytes.length));
    put(block, 136, "00000000000");
    put(block, 148, "        ");
    put(block, 156, String.valueOf(type));
    put(block, 157, target);
    put(block, 257, "ustar\00000");
    int sum = 0;
    for (byte one : block) {
      sum += one & 0xff;
    }
    put(block, 148, "%06o\0".formatted(sum));
    archive.writeBytes(block);
    archive.writeBytes(bytes);
    archive.writeBytes(new byte[-bytes.length & 511]);
    return this;
  }

  private static void put(byte[] block, int at, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    System.arraycopy(bytes, 0, block, at, bytes.length);
  }

  private TreeArchiveTest file(String name, String content) {
    return entry(name, '0', content, "");
  }

  private TreeArchiveTest link(String name, String target) {
    return entry(name, '2', "", target);
  }

  private List<String> unpack() throws IOException {
    archive.writeBytes(new byte[1024]);
    return TreeUnpacker.unpack(new ByteArrayInputStream(archive.toByteArray()), goal);
  }

  private void assertRejected(String why) {
    assertThatThrownBy(this::unpack).isInstanceOf(IOException.class).hasMessageContaining(why);
    assertThat(outside.resolve("secret")).hasContent("secret");
    assertThat(outside.toFile().list()).containsExactly("secret");
  }

  @Test
  void roundTripPreservesTheTree() throws IOException {
    Path tree = Files.createDirectories(folder.resolve("tree"));
    String name = "ä".repeat(90);
    Files.createDirectories(tree.resolve(name).resolve("empty"));
    Files.writeString(tree.resolve(name).resolve(name), "deep");
    Files.write(tree.resolve("block"), new byte[512]);
    Files.createFile(tree.resolve("nothing"));
    Files.createSymbolicLink(tree.resolve("far"), Path.of(name + "/" + name));
    Files.setPosixFilePermissions(
        tree.resolve("block"), PosixFilePermissions.fromString("r-x--x--x"));
    Files.setPosixFilePermissions(
        tree.resolve(name).resolve("empty"), PosixFilePermissions.fromString("r-xr-xr-x"));
    try (InputStream packed = TreePacker.pack(tree)) {
      assertThat(TreeUnpacker.unpack(packed, goal)).isEmpty();
    }
    assertThat(goal.resolve(name).resolve(name)).hasContent("deep");
    assertThat(goal.resolve("far")).hasContent("deep");
    assertThat(goal.resolve("block")).hasBinaryContent(new byte[512]);
    assertThat(goal.resolve("nothing")).isEmptyFile();
    assertThat(Files.getPosixFilePermissions(goal.resolve("block")))
        .isEqualTo(PosixFilePermissions.fromString("r-x--x--x"));
    assertThat(Files.getPosixFilePermissions(goal.resolve(name).resolve("empty")))
        .isEqualTo(PosixFilePermissions.fromString("r-xr-xr-x"));
    assertThat(goal.resolve(name).resolve("empty")).isEmptyDirectory();
  }

  @Test
  void reportsFilesThatCannotBePacked() throws Exception {
    Path tree = Files.createDirectories(folder.resolve("tree"));
    Path pipe = tree.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    try (TreePacker packed = TreePacker.pack(tree)) {
      assertThatThrownBy(packed::readAllBytes)
          .hasMessageContaining(pipe + " is not a file, folder or link");
      assertThat(packed.failure()).isPresent();
    }
    assertThatThrownBy(() -> TreePacker.pack(outside.resolve("secret")))
        .isInstanceOf(NotDirectoryException.class);
  }

  @Test
  void replacesFilesAndLinksButNeverWritesThroughLinks() throws IOException {
    Files.createDirectories(goal);
    Files.createSymbolicLink(goal.resolve("a"), outside.resolve("secret"));
    file("a", "new").unpack();
    assertThat(goal.resolve("a")).hasContent("new");
    assertThat(outside.resolve("secret")).hasContent("secret");
  }

  @Test
  void rejectsLeadingDotDot() {
    file("../outside/secret", "x").assertRejected("outside of the folder");
  }

  @Test
  void rejectsEmbeddedDotDot() {
    file("a/../../outside/secret", "x").assertRejected("outside of the folder");
  }

  @Test
  void rejectsAbsoluteNames() {
    file(outside.resolve("secret").toString(), "x").assertRejected("outside of the folder");
  }

  @Test
  void rejectsWritesThroughArchivedLinks() {
    entry("real/", '5', "", "").link("a", "real").file("a/b", "x").assertRejected("not a folder");
  }

  @Test
  void rejectsWritesThroughExistingLinks() throws IOException {
    Files.createDirectories(goal);
    Files.createSymbolicLink(goal.resolve("a"), outside);
    file("a/secret", "x").assertRejected("not a folder");
  }

  @Test
  void rejectsHardLinksToTheOutside() {
    entry("a", '1', "", "../outside/secret").assertRejected("outside of the folder");
  }

  @Test
  void rejectsHardLinksThroughLinks() throws IOException {
    Files.createDirectories(goal);
    Files.createSymbolicLink(goal.resolve("a"), outside);
    entry("b", '1', "", "a/secret").assertRejected("not a folder");
  }

  @Test
  void rejectsDevices() {
    entry("null", '3', "", "").assertRejected("not a file, folder or link");
  }

  @Test
  void skipsLinksToTheOutside() throws IOException {
    List<String> leftOut =
        file("sub/file", "x")
            .link("absolute", "/etc/passwd")
            .link("up", "../outside")
            .link("sub/up", "../../outside")
            .link("sub/back", "../sub/file")
            .link("winding", "sub/../../outside")
            .unpack();
    assertThat(leftOut)
        .containsExactly(
            "absolute -> /etc/passwd",
            "up -> ../outside",
            "sub/up -> ../../outside",
            "winding -> sub/../../outside");
    assertThat(goal.resolve("sub/back")).hasContent("x");
    assertThat(Files.exists(goal.resolve("up"), LinkOption.NOFOLLOW_LINKS)).isFalse();
  }

  @Test
  void rejectsTruncatedArchives() {
    file("a", "content");
    byte[] half = java.util.Arrays.copyOf(archive.toByteArray(), 515);
    assertThatThrownBy(() -> TreeUnpacker.unpack(new ByteArrayInputStream(half), goal))
        .hasMessageContaining("cut off");
    byte[] endless = archive.toByteArray();
    assertThatThrownBy(() -> TreeUnpacker.unpack(new ByteArrayInputStream(endless), goal))
        .hasMessageContaining("truncated");
  }

  @Test
  void rejectsCorruptArchives() {
    file("a", "content");
    byte[] bytes = archive.toByteArray();
    bytes[0] ^= 1;
    assertThatThrownBy(() -> TreeUnpacker.unpack(new ByteArrayInputStream(bytes), goal))
        .hasMessageContaining("damaged");
  }

  @Test
  void rejectsInconsistentHeaders() {
    for (String lie :
        List.of("99 path=x\n", "0 path=x\n", "x path=y\n", "10 pathxyz\n", "7 =abc\n")) {
      archive.reset();
      entry("pax", 'x', lie, "").file("a", "x");
      assertThatThrownBy(this::unpack).as(lie).isInstanceOf(IOException.class);
    }
    archive.reset();
    entry("pax", 'x', "19 path=../outside\n", "")
        .file("a", "x")
        .assertRejected("outside of the folder");
  }
}
