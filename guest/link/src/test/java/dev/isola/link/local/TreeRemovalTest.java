package dev.isola.link.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TreeRemovalTest {
  private Path scratch;
  private Path tree;

  @BeforeEach
  void makeTree() throws IOException {
    scratch = Files.createTempDirectory("isola-removal");
    tree = Files.createDirectory(scratch.resolve("tree"));
  }

  @AfterEach
  void removeScratch() throws IOException {
    TreeRemoval.remove(scratch);
    assertThat(scratch).doesNotExist();
  }

  /** Nests {@code count} times {@code step} directories with a name, keeping each path short. */
  private void nest(int count, int step, String name) throws IOException {
    String chain = String.join("/", java.util.Collections.nCopies(step, name));
    Path whole = Files.createDirectory(scratch.resolve("whole"));
    for (int i = 0; i < count; i++) {
      Path above = scratch.resolve("above");
      Path bottom = Files.createDirectories(above.resolve(chain));
      Files.writeString(bottom.resolve("file"), "content");
      Files.move(whole, bottom.resolve("next"), StandardCopyOption.ATOMIC_MOVE);
      Files.move(above, whole, StandardCopyOption.ATOMIC_MOVE);
    }
    Files.move(whole, tree.resolve("nested"), StandardCopyOption.ATOMIC_MOVE);
  }

  @Test
  void lastEntryIsThereUntilEverythingElseIsRemoved() throws IOException {
    nest(2, 100, "d");
    Path last = Files.createFile(tree.resolve("record"));
    for (int i = 0; i < 2000; i++) {
      Files.createFile(tree.resolve("file" + i));
    }
    int interrupted = 0;
    while (Files.exists(tree)) {
      try {
        TreeRemoval.remove(tree, Optional.of(last.getFileName()), Duration.ofMillis(2));
      } catch (IOException limitPassed) {
        interrupted++;
        assertThat(Files.exists(last) || Files.notExists(tree) || isEmpty(tree)).isTrue();
      }
    }
    assertThat(interrupted).isPositive();
  }

  private static boolean isEmpty(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.findAny().isEmpty();
    }
  }

  @Test
  void pathsLongerThanPathMaxAreRemoved() throws IOException {
    nest(6, 10, "n".repeat(200));

    TreeRemoval.remove(tree);

    assertThat(tree).doesNotExist();
  }

  @Test
  void treesDeeperThanAnyDescriptorLimitAreRemoved() throws IOException {
    nest(5, 1000, "d");

    TreeRemoval.remove(tree);

    assertThat(tree).doesNotExist();
  }

  @Test
  void wideTreesAreRemoved() throws IOException {
    for (int i = 0; i < 50; i++) {
      Path folder = Files.createDirectories(tree.resolve("a/b/" + i + "/c/d/e/f/g/h/i/j/k"));
      for (int k = 0; k < 20; k++) {
        Files.createFile(folder.resolve(Integer.toString(k)));
      }
    }

    TreeRemoval.remove(tree);

    assertThat(tree).doesNotExist();
  }

  @Test
  void linksAreRemovedAndNotFollowed() throws IOException {
    Path outside = Files.createDirectory(scratch.resolve("outside"));
    Files.writeString(outside.resolve("kept"), "kept");
    Files.createSymbolicLink(tree.resolve("folder"), outside);
    Files.createSymbolicLink(tree.resolve("file"), outside.resolve("kept"));
    Files.createSymbolicLink(tree.resolve("loop"), tree);
    Path link = Files.createSymbolicLink(scratch.resolve("link"), outside);

    TreeRemoval.remove(tree);
    TreeRemoval.remove(link);

    assertThat(tree).doesNotExist();
    assertThat(Files.exists(link, java.nio.file.LinkOption.NOFOLLOW_LINKS)).isFalse();
    assertThat(outside.resolve("kept")).hasContent("kept");
  }

  @Test
  void namesThatAreNotUtf8AreRemoved() throws IOException, InterruptedException {
    Process shell =
        new ProcessBuilder(
                "sh",
                "-c",
                "d=$(printf 'd\\377\\376'); mkdir \"$d\"; : > \"$d/$(printf '\\200 \\n')\"")
            .directory(tree.toFile())
            .inheritIO()
            .start();
    assertThat(shell.waitFor()).isZero();

    TreeRemoval.remove(tree);

    assertThat(tree).doesNotExist();
  }

  @Test
  void directoriesWithoutPermissionsAreRemoved() throws IOException {
    String deep = "a/b/c/d/e/f/g/h/i/j/k";
    Files.createFile(Files.createDirectories(tree.resolve(deep)).resolve("file"));
    for (int end = deep.length(); end > 0; end -= 2) {
      Path locked = tree.resolve(deep.substring(0, end));
      Files.setPosixFilePermissions(locked, PosixFilePermissions.fromString("---------"));
    }

    TreeRemoval.remove(tree);

    assertThat(tree).doesNotExist();
  }

  @Test
  void nextRemovalContinuesAfterADeadline() throws IOException {
    Files.createFile(tree.resolve("file"));

    assertThatThrownBy(() -> TreeRemoval.remove(tree, Duration.ZERO))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("in time");
    assertThat(tree).exists();

    TreeRemoval.remove(tree);
    assertThat(tree).doesNotExist();
  }

  @Test
  void missingTreeIsNoError() throws IOException {
    TreeRemoval.remove(scratch.resolve("absent"));

    try (Stream<Path> left = Files.list(scratch)) {
      assertThat(left).containsExactly(tree);
    }
  }

  @Test
  void directoryWithAMountIsRejected() {
    assertThatThrownBy(() -> NestedMountCheck.requireNone(Path.of("/proc")))
        .hasMessageContaining("mounted at /proc");
    assertThatThrownBy(() -> TreeRemoval.remove(Path.of("/")))
        .hasMessageContaining("root directory");
  }
}
