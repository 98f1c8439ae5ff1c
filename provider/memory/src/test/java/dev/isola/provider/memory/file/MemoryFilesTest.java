package dev.isola.provider.memory.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.provider.memory.fault.Faults;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.file.FileChange;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.Watch;
import dev.isola.spi.file.WriteOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The simulated file system by itself. */
class MemoryFilesTest {
  private final Tree tree = new Tree(1_000_000, Faults.NONE);
  private final MemoryFiles files = new MemoryFiles(tree, "/workspace", () -> {});

  private static void assertCode(ErrorCode code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(SandboxException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  @Test
  void linksAreFollowedWithinTheTree() {
    files.writeText("/etc/passwd", "mine", UTF_8);
    files.makeLink("out", "/etc");
    files.makeLink("up", "../../../etc/passwd");
    files.makeLink("loop", "loop");
    assertThat(files.readText("out/passwd", UTF_8, 10)).isEqualTo("mine");
    assertThat(files.readText("up", UTF_8, 10)).isEqualTo("mine");
    assertCode(ErrorCode.INVALID_REQUEST, () -> files.readText("loop", UTF_8, 10));
    assertCode(ErrorCode.FILE_NOT_FOUND, () -> files.readText("out/none/x", UTF_8, 10));
  }

  @Test
  void aFullDiskLeavesTheOldFileAndRoomComesBack() {
    files.writeText("kept", "as it was", UTF_8);
    byte[] large = new byte[2_000_000];
    assertCode(
        ErrorCode.DISK_FULL,
        () -> files.write("kept", new ByteArrayInputStream(large), WriteOptions.DEFAULT));
    assertThat(files.readText("kept", UTF_8, 100)).isEqualTo("as it was");
    files.write("other", new ByteArrayInputStream(large, 0, 900_000), WriteOptions.DEFAULT);
    files.remove("other", false);
    assertThat(tree.usedBytes()).isEqualTo(9 + 1024);
  }

  @Test
  void aPictureIsOfOneMomentWhoeverWritesMeanwhile() throws Exception {
    files.writeText("tree/z.new", "0", UTF_8);
    Thread writer =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (!Thread.currentThread().isInterrupted()) {
                    files.move("tree/z.new", "tree/z", true);
                    files.writeText("tree/z.new", "1", UTF_8);
                  }
                });
    try {
      for (int i = 0; i < 2_000; i++) {
        assertThat(files.picture("tree", List.of(), List.of()).readAllBytes()).isNotEmpty();
      }
    } finally {
      writer.interrupt();
      writer.join();
    }
  }

  @Test
  void archivesGoRoundWithLongNames() throws IOException {
    String longName = "long-".repeat(30) + "ö";
    files.writeText("tree/" + longName + "/file", "content", UTF_8);
    files.makeLink("tree/link", longName);
    byte[] archive = files.exportTree("tree", List.of()).readAllBytes();
    files.importTree("copy", new ByteArrayInputStream(archive), TreeLimits.DEFAULT);
    assertThat(files.readText("copy/link/file", UTF_8, 10)).isEqualTo("content");
    archive[0]++;
    assertCode(
        ErrorCode.BAD_ARCHIVE,
        () -> files.importTree("bad", new ByteArrayInputStream(archive), TreeLimits.DEFAULT));
  }

  @Test
  void aWatchOverflowsInsteadOfGrowing() {
    files.makeFolder("watched", 0755);
    try (Watch watch = files.watch("watched", false)) {
      for (int i = 0; i < 5000; i++) {
        files.makeFolder("watched/" + i, 0755);
      }
      FileChange last = watch.next(Duration.ZERO).orElseThrow();
      for (var next = watch.next(Duration.ZERO);
          next.isPresent();
          next = watch.next(Duration.ZERO)) {
        last = next.get();
      }
      assertThat(last.kind()).isEqualTo(FileChange.Kind.OVERFLOW);
    }
  }

  @Test
  void patternsKeepToNames() {
    assertThat(Glob.ofFiles("*.java").matches("a/B.java")).isFalse();
    assertThat(Glob.ofFiles("**/*.java").matches("a/b/C.java")).isTrue();
    assertThat(Glob.ofFiles("**/*.java").matches("C.java")).isTrue();
    assertThat(Glob.ofFiles("**").matches("a/.b")).isFalse();
    assertThat(Glob.ofFiles("[!a-c]?").matches("dx")).isTrue();
    assertThat(Glob.ofText("*b").matches("./ab")).isTrue();
  }

  @Test
  void listsByDepth() {
    files.writeText("a/b/c", "", UTF_8);
    assertThat(files.list("a", 1).map(FileInfo::path)).containsExactly("/workspace/a/b");
    assertThat(files.list("a", 0).map(FileInfo::path))
        .containsExactly("/workspace/a/b", "/workspace/a/b/c");
  }
}
