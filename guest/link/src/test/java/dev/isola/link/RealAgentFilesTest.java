package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.Bytes;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.error.LimitExceeded;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.error.Unsupported;
import dev.isola.spi.exec.Command;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.FileType;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.TreeSummary;
import dev.isola.spi.file.WriteOptions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** File operations with the real agent. */
@Timeout(60)
class RealAgentFilesTest {
  private static RealAgent agent;
  private static FileSystem files;

  @BeforeAll
  static void start() throws IOException {
    agent = new RealAgent();
    files = agent.sandbox.files();
  }

  @AfterAll
  static void stop() throws IOException {
    agent.close();
  }

  private static void assertCode(
      ErrorCode code, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(SandboxException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  @Test
  void writesAndReads() {
    FileInfo written = files.writeText("a/b/hello.txt", "hello wörld", UTF_8);
    assertThat(written.type()).isEqualTo(FileType.FILE);
    assertThat(written.size()).isEqualTo(12);
    assertThat(written.mode()).isEqualTo(0644);
    assertThat(written.modifiedAt())
        .isBetween(Instant.now().minusSeconds(60), Instant.now().plusSeconds(5));
    assertThat(files.readText("a/b/hello.txt", UTF_8, 100)).isEqualTo("hello wörld");
    assertThat(files.readText(written.path(), UTF_8, 100)).isEqualTo("hello wörld");
    assertThat(files.readText("/workspace/a/b/hello.txt", UTF_8, 100)).isEqualTo("hello wörld");
    assertThat(agent.root.resolve("a/b/hello.txt")).hasContent("hello wörld");
    assertThat(files.stat("a/b", NOFOLLOW_LINKS).type()).isEqualTo(FileType.FOLDER);
    assertThat(files.exists("a/b/none")).isFalse();
  }

  @Test
  void readsRanges() throws IOException {
    files.writeText("range", "0123456789", UTF_8);
    assertThat(range(2, 3)).isEqualTo("234");
    assertThat(range(8, 100)).isEqualTo("89");
    assertThat(range(100, 1)).isEmpty();
    assertThat(range(3, 0)).isEmpty();
    assertThatThrownBy(() -> files.readBytes("range", 9)).isInstanceOf(LimitExceeded.class);
  }

  private static String range(long offset, long length) throws IOException {
    try (InputStream in = files.read("range", new ReadRange(offset, length))) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }

  @Test
  void largeFilesRoundTrip() throws Exception {
    long size = 200L * 1024 * 1024;
    MessageDigest sent = MessageDigest.getInstance("SHA-256");
    FileInfo info = files.write("large", new RandomInputStream(size, sent), WriteOptions.DEFAULT);
    assertThat(info.size()).isEqualTo(size);
    MessageDigest received = MessageDigest.getInstance("SHA-256");
    try (InputStream in = files.read("large", ReadRange.ALL)) {
      byte[] buffer = new byte[64 * 1024];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        received.update(buffer, 0, n);
      }
    }
    assertThat(received.digest()).isEqualTo(sent.digest());
    try (InputStream in = files.read("large", ReadRange.ALL)) {
      assertThat(in.readNBytes(10)).hasSize(10);
    }
    files.remove("large", false);
    assertThat(files.exists("large")).isFalse();
  }

  @Test
  void honoursWriteOptions() {
    files.writeText("opt", "one", UTF_8);
    assertCode(
        ErrorCode.FILE_EXISTS,
        () -> files.write("opt", bytes("two"), WriteOptions.DEFAULT.onlyNew()));
    files.write("opt", bytes("+two"), WriteOptions.DEFAULT.appending());
    assertThat(files.readText("opt", UTF_8, 100)).isEqualTo("one+two");
    FileInfo script = files.write("opt", bytes("x"), WriteOptions.DEFAULT.withMode(0750).synced());
    assertThat(script.mode()).isEqualTo(0750);
    assertThat(files.write("opt", bytes("yy"), WriteOptions.DEFAULT.inPlace()).mode())
        .isEqualTo(0750);
    files.changeMode("opt", 0600);
    assertThat(files.stat("opt", NOFOLLOW_LINKS).mode()).isEqualTo(0600);
  }

  @Test
  void failedWriteLeavesNothing() throws IOException {
    files.writeText("kept", "as it was", UTF_8);
    files.makeFolder("empty", 0755);
    InputStream broken = new FailingInputStream(3_000_000, () -> new IOException("broken"));
    assertThatThrownBy(() -> files.write("kept", broken, WriteOptions.DEFAULT))
        .isInstanceOf(UncheckedIOException.class);
    assertThat(files.readText("kept", UTF_8, 100)).isEqualTo("as it was");
    InputStream wrong = new FailingInputStream(0, () -> new IllegalStateException("wrong"));
    assertThatThrownBy(() -> files.write("empty/file", wrong, WriteOptions.DEFAULT))
        .isInstanceOf(IllegalStateException.class);
    try (Stream<Path> left = Files.list(agent.root.resolve("empty"))) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void errorsNameTheProblem() {
    files.writeText("file", "x", UTF_8);
    files.makeFolder("folder/inner", 0755);
    assertThatThrownBy(() -> files.stat("none", NOFOLLOW_LINKS)).isInstanceOf(NotFound.class);
    assertCode(ErrorCode.FILE_NOT_FOUND, () -> files.read("none", ReadRange.ALL));
    assertCode(ErrorCode.FILE_NOT_FOUND, () -> files.list("none", 1));
    assertCode(ErrorCode.FILE_NOT_FOUND, () -> files.exportTree("none", List.of()));
    assertCode(ErrorCode.FILE_NOT_FOUND, () -> files.remove("none", true));
    assertCode(ErrorCode.IS_A_FOLDER, () -> files.read("folder", ReadRange.ALL));
    assertCode(ErrorCode.NOT_A_FOLDER, () -> files.list("file", 1));
    assertCode(ErrorCode.FOLDER_NOT_EMPTY, () -> files.remove("folder", false));
    assertCode(ErrorCode.PATH_OUTSIDE, () -> files.stat("/etc/passwd", NOFOLLOW_LINKS));
    assertCode(ErrorCode.PATH_OUTSIDE, () -> files.stat("../../etc/passwd", NOFOLLOW_LINKS));
    assertThatThrownBy(() -> files.move("file", "folder", false)).isInstanceOf(Conflict.class);
    agent.sandbox.run(Command.argv("mkfifo", "pipe"));
    assertCode(ErrorCode.NOT_A_FILE, () -> files.read("pipe", ReadRange.ALL));
    assertThat(files.stat("pipe", NOFOLLOW_LINKS).type()).isEqualTo(FileType.OTHER);
  }

  @Test
  void linksCannotLeaveTheWorkspace() {
    files.makeLink("out", "/etc");
    assertThat(files.stat("out", NOFOLLOW_LINKS).type()).isEqualTo(FileType.LINK);
    assertThat(files.stat("out", NOFOLLOW_LINKS).linkTarget()).contains("/etc");
    assertThatThrownBy(() -> files.readText("out/passwd", UTF_8, 10_000))
        .isInstanceOf(InvalidRequest.class);
    files.remove("out", false);
    assertThat(Path.of("/etc")).exists();
  }

  @Test
  void listsAndGlobs() {
    for (int i = 0; i < 3000; i++) {
      files.writeText("many/sub" + i % 3 + "/file" + i + ".txt", "", UTF_8);
    }
    try (Stream<FileInfo> list = files.list("many", 1)) {
      assertThat(list.map(FileInfo::name)).containsExactlyInAnyOrder("sub0", "sub1", "sub2");
    }
    try (Stream<FileInfo> list = files.list("many", 0)) {
      assertThat(list.count()).isEqualTo(3003);
    }
    try (Stream<FileInfo> list = files.list("many", 0)) {
      assertThat(list.limit(5).count()).isEqualTo(5);
    }
    try (Stream<FileInfo> found = files.glob("many", "**/file1?.txt")) {
      assertThat(found.count()).isEqualTo(10);
    }
    files.remove("many", true);
    assertThat(files.exists("many")).isFalse();
  }

  @Test
  void movesAndReplaces() {
    files.writeText("from", "1", UTF_8);
    files.writeText("to", "2", UTF_8);
    assertCode(ErrorCode.FILE_EXISTS, () -> files.move("from", "to", false));
    files.move("from", "to", true);
    assertThat(files.readText("to", UTF_8, 10)).isEqualTo("1");
    assertThat(files.exists("from")).isFalse();
  }

  @Test
  void extendedAttributesRoundTrip() {
    files.writeText("tagged", "x", UTF_8);
    try {
      files.setAttribute("tagged", "colour", Bytes.utf8("blue"));
    } catch (Unsupported e) {
      return; // This file system has no extended attributes.
    }
    assertThat(files.attributes("tagged")).containsEntry("colour", Bytes.utf8("blue"));
    files.removeAttribute("tagged", "colour");
    assertThat(files.attributes("tagged")).isEmpty();
  }

  @Test
  void treesRoundTrip() throws IOException {
    files.writeText("tree/a.txt", "A", UTF_8);
    files.writeText("tree/deep/b.txt", "B".repeat(100_000), UTF_8);
    files.writeText("tree/skip/c.txt", "C", UTF_8);
    files.makeLink("tree/link", "a.txt");
    byte[] archive;
    try (InputStream in = files.exportTree("tree", List.of("skip"))) {
      archive = in.readAllBytes();
    }
    TreeSummary summary =
        files.importTree("copy", new ByteArrayInputStream(archive), TreeLimits.DEFAULT);
    assertThat(summary.bytes()).isEqualTo(100_001);
    assertThat(files.readText("copy/a.txt", UTF_8, 10)).isEqualTo("A");
    assertThat(files.stat("copy/deep/b.txt", NOFOLLOW_LINKS).size()).isEqualTo(100_000);
    assertThat(files.stat("copy/link", NOFOLLOW_LINKS).linkTarget()).contains("a.txt");
    assertThat(files.exists("copy/skip/c.txt")).isFalse();
    assertThatThrownBy(
            () ->
                files.importTree(
                    "small", new ByteArrayInputStream(archive), new TreeLimits(10, 10)))
        .isInstanceOf(LimitExceeded.class);
    assertCode(
        ErrorCode.BAD_ARCHIVE,
        () -> files.importTree("bad", bytes("this is no archive".repeat(100)), TreeLimits.DEFAULT));
  }

  @Test
  void largeTreesRoundTrip() throws IOException {
    agent.sandbox.run(
        Command.shell(
            "mkdir big; cd big; for i in $(seq 1 500); do echo $i > f$i; done;"
                + " head -c 60000000 /dev/zero > z"));
    ByteArrayOutputStream archive = new ByteArrayOutputStream();
    try (InputStream in = files.exportTree("big", List.of())) {
      in.transferTo(archive);
    }
    TreeSummary summary =
        files.importTree(
            "bigcopy", new ByteArrayInputStream(archive.toByteArray()), TreeLimits.DEFAULT);
    assertThat(summary.entries()).isGreaterThanOrEqualTo(501);
    assertThat(agent.sandbox.run(Command.shell("diff -r big bigcopy")).succeeded()).isTrue();
  }

  private static InputStream bytes(String text) {
    return new ByteArrayInputStream(text.getBytes(UTF_8));
  }

  /** Fails after a while. */
  private static final class FailingInputStream extends InputStream {
    private final Supplier<Exception> failure;
    private int left;

    FailingInputStream(int left, Supplier<Exception> failure) {
      this.left = left;
      this.failure = failure;
    }

    @Override
    public int read() {
      throw new AssertionError("one byte at a time");
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      if (left <= 0) {
        switch (failure.get()) {
          case IOException e -> throw e;
          case RuntimeException e -> throw e;
          case Exception e -> throw new AssertionError(e);
        }
      }
      int count = Math.min(left, length);
      left -= count;
      return count;
    }
  }

  /** Incompressible bytes, with their digest. */
  private static final class RandomInputStream extends InputStream {
    private final Random random = new Random(1);
    private final MessageDigest digest;
    private long left;

    RandomInputStream(long size, MessageDigest digest) {
      this.left = size;
      this.digest = digest;
    }

    @Override
    public int read() {
      throw new AssertionError("one byte at a time");
    }

    @Override
    public int read(byte[] bytes, int offset, int length) {
      if (left == 0) {
        return -1;
      }
      byte[] some = new byte[(int) Math.min(left, length)];
      random.nextBytes(some);
      System.arraycopy(some, 0, bytes, offset, some.length);
      digest.update(some);
      left -= some.length;
      return some.length;
    }
  }
}
