package dev.isola.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.WriteOptions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Large transfers from and to streams. */
@Timeout(60)
class RealAgentTransferTest {
  private static final byte[] CONTENT = new byte[3_000_001];

  private static RealAgent agent;
  private static FileSystem files;

  @BeforeAll
  static void start() throws IOException {
    agent = new RealAgent();
    files = agent.sandbox.files();
    new Random(3).nextBytes(CONTENT);
    files.write("content", new ByteArrayInputStream(CONTENT), WriteOptions.DEFAULT);
  }

  @AfterAll
  static void stop() throws IOException {
    agent.close();
  }

  @AfterEach
  void allBuffersAreReleased() {
    await().untilAsserted(() -> assertThat(BufferPool.SHARED.inUse()).isZero());
  }

  @Test
  void readsOfAnySizeNeitherLoseNorRepeatBytes() throws IOException {
    ByteArrayOutputStream rest = new ByteArrayOutputStream();
    try (InputStream in = files.read("content", ReadRange.ALL)) {
      assertThat(in.readNBytes(100)).isEqualTo(Arrays.copyOf(CONTENT, 100));
      assertThat(in.transferTo(rest)).isEqualTo(CONTENT.length - 100);
      assertThat(in.transferTo(rest)).isZero();
    }
    assertThat(rest.toByteArray()).isEqualTo(Arrays.copyOfRange(CONTENT, 100, CONTENT.length));
  }

  @Test
  void closedStreamTransfersNothing() throws IOException {
    InputStream in = files.read("content", ReadRange.ALL);
    in.close();
    assertThatThrownBy(() -> in.transferTo(OutputStream.nullOutputStream()))
        .isInstanceOf(IOException.class);
  }

  @Test
  void fileUploadStartsAtTheStreamPosition(@TempDir Path folder) throws IOException {
    Path source = Files.write(folder.resolve("source"), CONTENT);
    try (InputStream in = new FileInputStream(source.toFile())) {
      in.skipNBytes(7);
      assertThat(files.write("copy", in, WriteOptions.DEFAULT).size())
          .isEqualTo(CONTENT.length - 7);
      assertThat(in.read()).isEqualTo(-1);
    }
    assertThat(Files.readAllBytes(agent.root.resolve("copy")))
        .isEqualTo(Arrays.copyOfRange(CONTENT, 7, CONTENT.length));
  }

  /** Larger than any socket buffer, so that the writer blocks in the middle of frames. */
  @Test
  void fileLargerThanTheSocketBufferArrivesWhole(@TempDir Path folder) throws IOException {
    Path source = folder.resolve("source");
    try (OutputStream out = Files.newOutputStream(source)) {
      for (int i = 0; i < 16; i++) {
        out.write(CONTENT);
      }
    }
    try (InputStream in = new FileInputStream(source.toFile())) {
      files.write("copy", in, WriteOptions.DEFAULT);
    }
    assertThat(Files.mismatch(source, agent.root.resolve("copy"))).isEqualTo(-1);
    Path back = folder.resolve("back");
    try (InputStream in = files.read("copy", ReadRange.ALL);
        OutputStream out = new FileOutputStream(back.toFile())) {
      in.transferTo(out);
    }
    assertThat(Files.mismatch(source, back)).isEqualTo(-1);
  }

  @Test
  void growingFileIsSentToItsEnd(@TempDir Path folder) throws IOException {
    Path source = Files.write(folder.resolve("source"), Arrays.copyOf(CONTENT, 70_000));
    try (InputStream in = new FileInputStream(source.toFile())) {
      in.skipNBytes(10_000);
      Files.write(source, CONTENT);
      files.write("copy", in, WriteOptions.DEFAULT);
    }
    assertThat(Files.readAllBytes(agent.root.resolve("copy")))
        .isEqualTo(Arrays.copyOfRange(CONTENT, 10_000, CONTENT.length));
  }

  @Test
  void fileWithoutSizeIsRead() throws IOException {
    try (InputStream in = new FileInputStream("/proc/self/status")) {
      files.write("copy", in, WriteOptions.DEFAULT);
    }
    assertThat(Files.readString(agent.root.resolve("copy"))).startsWith("Name:");
  }

  @Test
  void subclassOfFileInputStreamIsReadThroughItsReadMethod(@TempDir Path folder)
      throws IOException {
    Path source = Files.write(folder.resolve("source"), new byte[100_000]);
    try (InputStream in = new OverridingFileInputStream(source.toFile())) {
      files.write("copy", in, WriteOptions.DEFAULT);
    }
    assertThat(Files.readAllBytes(agent.root.resolve("copy"))).hasSize(100_000).containsOnly(1);
  }

  @Test
  void smallPiecesArriveInOrder() throws IOException {
    InputStream in = new SmallReadsInputStream(CONTENT);
    assertThat(files.write("copy", in, WriteOptions.DEFAULT).size()).isEqualTo(CONTENT.length);
    assertThat(Files.readAllBytes(agent.root.resolve("copy"))).isEqualTo(CONTENT);
  }

  @Test
  void fileIsAppendedTo(@TempDir Path folder) throws IOException {
    Path target = Files.write(folder.resolve("target"), new byte[] {1, 2, 3});
    try (InputStream in = files.read("content", ReadRange.ALL);
        OutputStream out = new FileOutputStream(target.toFile(), true)) {
      in.skipNBytes(5);
      in.transferTo(out);
    }
    byte[] all = Files.readAllBytes(target);
    assertThat(all).hasSize(CONTENT.length - 5 + 3).startsWith(1, 2, 3);
    assertThat(Arrays.copyOfRange(all, 3, all.length))
        .isEqualTo(Arrays.copyOfRange(CONTENT, 5, CONTENT.length));
  }

  @Test
  void closingDuringTransferEndsItAndReleasesBuffers() throws IOException {
    InputStream in = files.read("content", ReadRange.ALL);
    OutputStream closing =
        new OutputStream() {
          @Override
          public void write(int value) throws IOException {
            in.close();
          }

          @Override
          public void write(byte[] bytes, int offset, int length) throws IOException {
            in.close();
          }
        };
    assertThatThrownBy(() -> in.transferTo(closing)).isInstanceOf(IOException.class);
  }

  /** Overrides every read to return ones. */
  private static final class OverridingFileInputStream extends FileInputStream {
    OverridingFileInputStream(File file) throws IOException {
      super(file);
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      int count = super.read(bytes, offset, length);
      Arrays.fill(bytes, offset, offset + Math.max(count, 0), (byte) 1);
      return count;
    }
  }

  /** Returns a few thousand bytes at a time and reports none as available. */
  private static final class SmallReadsInputStream extends ByteArrayInputStream {
    SmallReadsInputStream(byte[] bytes) {
      super(bytes);
    }

    @Override
    public synchronized int read(byte[] bytes, int offset, int length) {
      return super.read(bytes, offset, Math.min(length, 4001));
    }

    @Override
    public synchronized int available() {
      return 0;
    }
  }
}
