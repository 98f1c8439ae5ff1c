package dev.isola.host.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Images that share the files of another one. */
class ImageLayerTest {
  private final ImageFixture images = new ImageFixture();
  private Image base;

  @BeforeEach
  void addBase() {
    base =
        images.add(
            "base",
            new TarBuilder()
                .file("bin/tool", "#!/bin/sh\n")
                .link("bin/alias", "tool")
                .folder("etc")
                .file("etc/kept", "kept")
                .file("etc/changed", "by the base")
                .file("etc/removed", "removed")
                .file("lib/old/deep/file", "deep")
                .file("tmp/scratch", "scratch")
                .file("workspace/notes", "of the base")
                .bytes());
  }

  @AfterEach
  void close() {
    images.close();
  }

  private Image add(String name, ImageLayer layer) {
    return images.add(
        name, ImageSource.layer(layer, "a layer", Map.of("A", "b"), "user", "/home/user"));
  }

  private ImageLayer layer(TarBuilder changes, List<String> emptied, List<String> replaced) {
    return new ImageLayer(
        base, emptied, replaced, Optional.of(new ByteArrayInputStream(changes.bytes())));
  }

  private static Object inode(Image image, String path) throws IOException {
    return Files.getAttribute(image.rootfs().resolve(path), "unix:ino", LinkOption.NOFOLLOW_LINKS);
  }

  @Test
  void withoutChangesTheImageIsTheSameAndSharesAllFiles() throws IOException {
    Image made = add("same", new ImageLayer(base, List.of(), List.of(), Optional.empty()));
    assertThat(made.digest()).isEqualTo(base.digest());
    assertThat(made.files()).isEqualTo(base.files());
    assertThat(made.size()).isEqualTo(base.size());
    assertThat(made.source()).isEqualTo("a layer");
    assertThat(made.env()).isEqualTo(Map.of("A", "b"));
    assertThat(made.user()).contains("user");
    for (String path : List.of("bin/tool", "bin/alias", "lib/old/deep/file")) {
      assertThat(inode(made, path)).as(path).isEqualTo(inode(base, path));
    }
    assertThat(images.store.check("same").passed()).isTrue();
    assertThat(images.leftovers()).isEmpty();
  }

  @Test
  void eitherImageCanBeRemovedWithoutTheOther() throws IOException {
    add("one", new ImageLayer(base, List.of(), List.of(), Optional.empty()));
    Image two = add("two", new ImageLayer(base, List.of(), List.of(), Optional.empty()));
    images.store.remove("one");
    assertThat(images.store.check("base").passed()).isTrue();
    images.store.remove("base");
    assertThat(images.store.check("two").passed()).isTrue();
    assertThat(ImageFixture.text(two, "etc/kept")).isEqualTo("kept");
    assertThatThrownBy(
            () -> add("three", new ImageLayer(base, List.of(), List.of(), Optional.empty())))
        .isInstanceOf(NotFound.class);
    assertThat(images.leftovers()).isEmpty();
  }

  @Test
  void changesReplaceFilesAndNeverWriteIntoThoseOfTheBase() throws IOException {
    TarBuilder changes =
        new TarBuilder()
            .as(0755, 0, 0)
            .folder("etc")
            .as(0600, 0, 0)
            .file("etc/changed", "by the change")
            .file("etc/new", "new")
            .hardLink("etc/shared", "etc/kept")
            .special("etc/removed", 'W')
            .special("lib/old", 'W')
            .special("never/existed", 'W')
            .file("bin/alias", "now a file");
    Image made = add("changed", layer(changes, List.of(), List.of()));
    assertThat(ImageFixture.text(made, "etc/changed")).isEqualTo("by the change");
    assertThat(ImageFixture.mode(made.rootfs().resolve("etc/changed"))).isEqualTo(0600);
    assertThat(ImageFixture.text(made, "etc/new")).isEqualTo("new");
    assertThat(inode(made, "etc/shared")).isEqualTo(inode(base, "etc/kept"));
    assertThat(ImageFixture.exists(made, "etc/removed")).isFalse();
    assertThat(ImageFixture.exists(made, "lib/old")).isFalse();
    assertThat(ImageFixture.text(made, "bin/alias")).isEqualTo("now a file");
    assertThat(inode(made, "bin/tool")).isEqualTo(inode(base, "bin/tool"));
    assertThat(made.digest()).isNotEqualTo(base.digest());
    assertThat(images.store.check("changed").passed()).isTrue();
    assertThat(ImageFixture.text(base, "etc/changed")).isEqualTo("by the base");
    assertThat(images.store.check("base").passed()).isTrue();
  }

  @Test
  void someFoldersAreEmptyOrCompletelyReplaced() {
    TarBuilder changes =
        new TarBuilder()
            .file("tmp/of-the-build", "x")
            .special("tmp/scratch", 'W')
            .file("workspace/new", "new");
    Image made = add("made", layer(changes, List.of("tmp", "mnt/data"), List.of("workspace")));
    assertThat(ImageFixture.names(made.rootfs().resolve("mnt/data"))).isEmpty();
    assertThat(ImageFixture.names(made.rootfs().resolve("tmp"))).isEmpty();
    assertThat(ImageFixture.names(made.rootfs().resolve("workspace"))).containsExactly("new");
    assertThat(ImageFixture.exists(made, "etc/kept")).isTrue();
  }

  @Test
  void changesCannotLeaveTheImage() throws IOException {
    Path outside = Files.createDirectories(images.scratch.path().resolve("outside"));
    Files.writeString(outside.resolve("file"), "untouched");
    for (TarBuilder hostile :
        List.of(
            new TarBuilder().link("way", outside.toString()).file("way/file", "owned"),
            new TarBuilder().link("way", outside.toString()).special("way/file", 'W'),
            new TarBuilder().file("../../outside/file", "owned"),
            new TarBuilder().special("../../outside/file", 'W'))) {
      assertThatThrownBy(() -> add("hostile", layer(hostile, List.of(), List.of())))
          .isInstanceOfSatisfying(
              SandboxException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_ARCHIVE));
    }
    assertThat(outside.resolve("file")).hasContent("untouched");
    assertThat(images.store.find("hostile")).isEmpty();
    assertThat(images.leftovers()).isEmpty();
    assertThatThrownBy(
            () ->
                add(
                    "truncated",
                    new ImageLayer(
                        base,
                        List.of(),
                        List.of(),
                        Optional.of(
                            new ByteArrayInputStream(
                                new TarBuilder().file("etc/new", "new").unended())))))
        .hasMessageContaining("truncated");
  }

  @Test
  void baseCannotBeRemovedWhileAnImageIsMadeOfIt() {
    InputStream removing =
        new FilterInputStream(
            new ByteArrayInputStream(new TarBuilder().file("etc/new", "new").bytes())) {
          @Override
          public int read(byte[] to, int offset, int length) throws IOException {
            assertThatThrownBy(() -> images.store.remove("base")).isInstanceOf(Conflict.class);
            return super.read(to, offset, length);
          }
        };
    add("made", new ImageLayer(base, List.of(), List.of(), Optional.of(removing)));
    images.store.remove("base");
    assertThat(images.store.check("made").passed()).isTrue();
  }

  @Test
  void usersAreFoundWithoutFollowingLinks() throws IOException {
    Path folder = images.scratch.path();
    Path host = Files.writeString(folder.resolve("passwd"), "user:x:1:1::/:/bin/sh");
    assertThat(hasUser("plain", passwd("root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/h:/bin/sh")))
        .isTrue();
    assertThat(hasUser("other", passwd("users:x:1000:1000::/home/user:/bin/sh\n"))).isFalse();
    assertThat(hasUser("malformed", passwd("user:x:none:1000::/home/user:/bin/sh\nuser:x\n")))
        .isFalse();
    assertThat(hasUser("link", new TarBuilder().link("etc/passwd", host.toString()))).isFalse();
    assertThat(hasUser("parent", new TarBuilder().link("etc", folder.toString()))).isFalse();
    assertThat(hasUser("folder", new TarBuilder().folder("etc/passwd"))).isFalse();
    assertThat(hasUser("none", new TarBuilder().file("bin/sh", "x"))).isFalse();
    assertThat(hasUser("huge", passwd("x\n".repeat(3 << 20) + "user:x:1:1::/:/bin/sh\n")))
        .isFalse();
    assertThat(images.store.hasUser("missing", "user")).isFalse();
  }

  private static TarBuilder passwd(String content) {
    return new TarBuilder().file("etc/passwd", content);
  }

  private boolean hasUser(String name, TarBuilder tar) {
    images.add(name, tar.bytes());
    return images.store.hasUser(name, "user");
  }
}
