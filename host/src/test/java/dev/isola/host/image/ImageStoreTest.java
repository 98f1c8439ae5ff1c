package dev.isola.host.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names, listing, references, removal, replacement, and recovery after a crash. */
class ImageStoreTest {
  private static final SandboxId SANDBOX = new SandboxId("sandbox1");

  private final ImageFixture images = new ImageFixture();

  @AfterEach
  void close() {
    images.close();
  }

  private static byte[] tar(String content) {
    return new TarBuilder().file("etc/hostname", content).bytes();
  }

  private Path sandboxFolder() throws IOException {
    return Files.createDirectories(images.scratch.path().resolve("sandbox1"));
  }

  @Test
  void addedImageHasItsMetadata() {
    Image added = images.add("base", tar("x"));
    assertThat(images.store.find("base")).contains(added);
    assertThat(images.store.list()).containsExactly(added);
    assertThat(added.name()).isEqualTo("base");
    assertThat(added.createdAt()).isEqualTo(ImageFixture.NOW);
    assertThat(added.source()).isEqualTo("a test");
    assertThat(added.digest()).matches("sha256:[0-9a-f]{64}");
    assertThat(added.size()).isEqualTo(1);
    assertThat(added.rootfs()).isEqualTo(images.shared.resolve("images/base/rootfs"));
    assertThat(added.architecture()).isEqualTo("unknown");
    assertThat(images.store.check("base").passed()).isTrue();
  }

  @Test
  void imagesFolderIsPrivate() throws IOException {
    images.add("base", tar("x"));
    assertThat(ImageFixture.mode(images.shared.resolve("images"))).isEqualTo(0700);
  }

  @Test
  void emptyStoreCreatesNothing() {
    assertThat(images.store.list()).isEmpty();
    assertThat(images.store.find("base")).isEmpty();
    assertThat(images.shared).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ".",
        "..",
        "-x",
        "Base",
        "a b",
        "../x",
        "x\n",
        "host",
        "host:latest",
        "é",
        "a/../b",
        "/a",
        "a/",
        "a//b",
        "a/./b",
        "a:",
        "a:b:c",
        "a:b/c",
        "a:..",
        "a:-b",
        "a@b",
        "a%b",
        "a%2fb",
        "snapshot:s1",
        ".draft-1",
        "a/b/c/d/e/f"
      })
  void invalidNameIsRejected(String name) {
    assertThatThrownBy(() -> images.add(name, tar("x")))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("invalid image name");
    assertThat(images.store.find(name)).isEmpty();
    assertThatThrownBy(() -> images.store.require(name)).isInstanceOf(NotFound.class);
    assertThatThrownBy(() -> images.add("n".repeat(64), tar("x")))
        .isInstanceOf(InvalidRequest.class);
    images.store.release(name, SANDBOX);
  }

  @Test
  void namesMayHaveTagsAndFolders() throws IOException {
    Image tagged = images.add("python:3.14", tar("1"));
    Image other = images.add("python:3.13", tar("2"));
    Image registry = images.add("ghcr.io/org/tool:V1_rc", tar("3"));
    Image plain = images.add("python:latest", tar("4"));
    assertThat(plain.name()).isEqualTo("python");
    assertThat(images.store.list()).containsExactly(registry, plain, other, tagged);
    assertThat(images.store.require("python")).isEqualTo(plain);
    assertThat(images.store.require("python:latest")).isEqualTo(plain);
    assertThat(tagged.rootfs()).isEqualTo(images.shared.resolve("images/python@3.14/rootfs"));
    assertThat(registry.rootfs())
        .isEqualTo(images.shared.resolve("images/ghcr.io%org%tool@V1_rc/rootfs"));
    assertThat(images.store.check("python:3.14").passed()).isTrue();
    assertThatThrownBy(() -> images.add("python:3.14", tar("5")))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("python:3.14");

    images.store.acquire("python:3.14", SANDBOX, sandboxFolder());
    assertThatThrownBy(() -> images.store.remove("python:3.14"))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("the image python:3.14 is in use");
    assertThatThrownBy(() -> images.store.checkCanAdd("python:3.14", true))
        .isInstanceOf(Conflict.class);
    images.store.checkCanAdd("python:3.13", true);
    images.store.release("python:3.14", SANDBOX);
    images.store.remove("python:3.14");
    assertThat(images.store.find("python:3.14")).isEmpty();
    assertThat(images.store.find("python:3.13")).contains(other);
  }

  @Test
  void unknownImageErrorSuggestsNames() {
    assertThatThrownBy(() -> images.store.require("base"))
        .isInstanceOfSatisfying(
            NotFound.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.IMAGE_NOT_FOUND))
        .hasMessage("there is no image 'base'; isola image build base creates it");
    images.add("python", tar("x"));
    assertThatThrownBy(() -> images.store.require("pyton"))
        .hasMessage("there is no image 'pyton'; did you mean python? isola image ls shows all");
    assertThatThrownBy(() -> images.store.require("zzzzzz"))
        .hasMessageContaining("available: python");
    assertThatThrownBy(() -> images.store.require("debian:12"))
        .hasMessageContaining("isola image pull debian:12 fetches it");
  }

  @Test
  void duplicateNameConflicts() {
    Image first = images.add("base", tar("1"));
    assertThatThrownBy(() -> images.add("base", tar("2")))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("--replace");
    assertThat(images.store.require("base")).isEqualTo(first);
  }

  @Test
  void replaceIsAtomic() throws IOException {
    images.add("base", tar("1"));
    Image second = images.add("base", tar("2"), ImageLimits.DEFAULT, true);
    assertThat(ImageFixture.text(second, "etc/hostname")).isEqualTo("2");
    assertThat(images.store.list()).containsExactly(second);
    assertThat(images.leftovers()).isEmpty();
  }

  @Test
  void failedReplaceKeepsTheOldImage() throws IOException {
    Image first = images.add("base", tar("1"));
    assertThatThrownBy(() -> images.add("base", new byte[10], ImageLimits.DEFAULT, true))
        .isInstanceOf(SandboxException.class);
    assertThat(images.store.require("base")).isEqualTo(first);
    assertThat(ImageFixture.text(first, "etc/hostname")).isEqualTo("1");
  }

  @Test
  void imageInUseCannotBeRemoved() throws IOException {
    Image image = images.add("base", tar("1"));
    assertThat(images.store.acquire("base", SANDBOX, sandboxFolder())).isEqualTo(image);
    images.store.acquire("base", SANDBOX, sandboxFolder());
    assertThatThrownBy(() -> images.store.remove("base"))
        .isInstanceOf(Conflict.class)
        .hasMessage("the image base is in use by sandbox1; destroy that sandbox first");
    assertThatThrownBy(() -> images.add("base", tar("2"), ImageLimits.DEFAULT, true))
        .isInstanceOf(Conflict.class);
    assertThat(images.store.require("base")).isEqualTo(image);

    images.store.release("base", SANDBOX);
    images.store.release("base", SANDBOX);
    images.store.remove("base");
    images.store.release("base", SANDBOX);
    assertThat(images.store.list()).isEmpty();
    assertThat(images.leftovers()).isEmpty();
    assertThatThrownBy(() -> images.store.remove("base")).isInstanceOf(NotFound.class);
    assertThatThrownBy(() -> images.store.acquire("base", SANDBOX, sandboxFolder()))
        .isInstanceOf(NotFound.class);
  }

  @Test
  void staleReferenceDoesNotCount() throws IOException {
    images.add("base", tar("1"));
    images.store.acquire("base", SANDBOX, sandboxFolder());
    Files.delete(sandboxFolder());
    images.store.remove("base");
    assertThat(images.store.list()).isEmpty();
  }

  @Test
  void staleStagingFoldersAreRemovedAndActiveOnesKept() throws IOException {
    images.add("base", tar("1"));
    Path folder = images.shared.resolve("images");
    Path left = Files.createDirectories(folder.resolve(".draft-left/rootfs/etc"));
    Files.writeString(left.resolve("x"), "x");
    try (ImageStagingFolder living = ImageStagingFolder.create(folder)) {
      assertThat(folder.resolve(".draft-left")).doesNotExist();
      images.add("other", tar("2"));
      assertThat(living.folder()).exists();
    }
    assertThat(images.leftovers()).isEmpty();
    assertThat(images.store.list()).hasSize(2);
  }

  @Test
  void corruptImageIsSkippedInListsAndReportedByFind() throws IOException {
    images.add("good", tar("1"));
    images.add("bad", tar("1"));
    Files.writeString(images.shared.resolve("images/bad/image.properties"), "size=many\n");
    assertThat(images.store.list()).extracting(Image::name).containsExactly("good");
    assertThatThrownBy(() -> images.store.require("bad"))
        .isInstanceOf(SandboxException.class)
        .hasMessageContaining("image.properties is corrupt");
  }

  @Test
  void concurrentAddsLeaveOneCompleteImage() throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Callable<Boolean>> all =
          List.of(() -> added("1"), () -> added("2"), () -> added("3"), () -> added("4"));
      int created = 0;
      for (Future<Boolean> one : threads.invokeAll(all)) {
        created += one.get() ? 1 : 0;
      }
      assertThat(created).isEqualTo(1);
    }
    assertThat(images.store.list()).hasSize(1);
    assertThat(images.store.check("base").passed()).isTrue();
    assertThat(images.leftovers()).isEmpty();
  }

  private boolean added(String content) {
    try {
      images.add("base", tar(content));
      return true;
    } catch (Conflict other) {
      return false;
    }
  }

  @Test
  void checkReportsDifferences() throws IOException {
    Image image =
        images.add(
            "base",
            new TarBuilder()
                .file("same", "x")
                .file("content", "x")
                .file("mode", "x")
                .file("missing", "x")
                .link("link", "there")
                .file("of a size", "x")
                .bytes());
    assertThat(images.store.check("base").passed()).isTrue();
    Path root = image.rootfs();
    Files.writeString(root.resolve("content"), "y");
    Files.setAttribute(root.resolve("mode"), "unix:mode", 04755);
    Files.delete(root.resolve("missing"));
    Files.delete(root.resolve("link"));
    Files.createSymbolicLink(root.resolve("link"), Path.of("elsewhere"));
    Files.writeString(root.resolve("of a size"), "xx");
    Files.writeString(root.resolve("added"), "x");
    ImageCheck check = images.store.check("base");
    assertThat(check.passed()).isFalse();
    assertThat(check.different()).isEqualTo(6);
    assertThat(check.differences().toString())
        .contains("content, what=content sha256:")
        .contains("mode, what=mode 4755, was 0755")
        .contains("missing, what=missing")
        .contains("link, what=content elsewhere, was there")
        .contains("of a size, what=size 2, was 1")
        .contains("added, what=added")
        .doesNotContain("same");
  }

  @Test
  void checkReportsChangedOwners() throws IOException {
    ImageFixture.needRoot();
    Image image = images.add("base", tar("x"));
    Files.setAttribute(image.rootfs().resolve("etc/hostname"), "unix:uid", 7);
    assertThat(images.store.check("base").differences())
        .containsExactly(new ImageCheck.Difference("etc/hostname", "owner 7:0, was 0:0"));
  }

  @Test
  void checkDetectsAChangedManifest() throws IOException {
    Image image = images.add("base", tar("x"));
    Files.writeString(image.rootfs().resolve("etc/hostname"), "y");
    Path list = image.rootfs().resolveSibling(RootfsManifest.FILE);
    RootfsManifest.write(image.rootfs(), Files.newOutputStream(list));
    assertThat(images.store.check("base").passed()).isFalse();
    assertThat(images.store.check("base").differences().toString()).contains("changed as well");
  }
}
