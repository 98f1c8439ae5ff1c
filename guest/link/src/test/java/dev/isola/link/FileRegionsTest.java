package dev.isola.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class FileRegionsTest {
  private static final byte[] CONTENT = new byte[300_000];

  private final ByteArrayOutputStream sent = new ByteArrayOutputStream();
  private final AgentChannel channel =
      new StreamAgentChannel(InputStream.nullInputStream(), sent, () -> {});
  private FileChannel file;
  private FileRegions parts;

  @BeforeEach
  void open(@TempDir Path folder) throws IOException {
    new Random(5).nextBytes(CONTENT);
    Path path = Files.write(folder.resolve("file"), CONTENT);
    file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
    parts = new FileRegions(file);
  }

  @AfterEach
  void close() throws IOException {
    file.close();
    assertThat(BufferPool.SHARED.inUse()).isZero();
  }

  @Test
  void regionsCoverTheFileInOrderAndLeaveTheRest() throws Exception {
    send(next(200_000));
    send(next(90_000));
    assertThat(parts.next(200_000)).isNull();
    assertThat(file.position()).isEqualTo(290_000);
    assertThat(sent.toByteArray()).isEqualTo(Arrays.copyOf(CONTENT, 290_000));
    assertThat(parts.await(Duration.ofSeconds(1))).isTrue();
    assertThatCode(parts::check).doesNotThrowAnyException();
  }

  @Test
  void truncatedFileIsPaddedAndReported() throws Exception {
    FileRegion part = next(200_000);
    file.truncate(100_000);
    send(part);
    byte[] all = sent.toByteArray();
    assertThat(all).hasSize(200_000);
    assertThat(Arrays.copyOf(all, 100_000)).isEqualTo(Arrays.copyOf(CONTENT, 100_000));
    assertThat(Arrays.copyOfRange(all, 100_000, 200_000)).containsOnly(0);
    assertThatThrownBy(parts::check).hasRootCauseInstanceOf(EOFException.class);
    assertThatThrownBy(() -> next(200_000)).isInstanceOf(IOException.class);
  }

  @Test
  void closedFileIsReported() throws Exception {
    FileRegion part = next(200_000);
    file.close();
    send(part);
    assertThat(sent.toByteArray()).hasSize(200_000).containsOnly(0);
    assertThatThrownBy(parts::check).isInstanceOf(IOException.class);
  }

  @Test
  void awaitWaitsForEveryRegion() throws Exception {
    FileRegion part = next(100_000);
    assertThat(parts.await(Duration.ofMillis(1))).isFalse();
    part.release();
    assertThat(parts.await(Duration.ofSeconds(1))).isTrue();
  }

  @Test
  void awaitReleaseKeepsTheInterrupt() throws Exception {
    next(100_000).release();
    Thread.currentThread().interrupt();
    parts.awaitRelease();
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void closedSendQueueReleasesItsRegions() throws Exception {
    SendQueue outbox = new SendQueue();
    FileRegion part = next(100_000);
    assertThat(outbox.put(Wire.header(Wire.DATA, 1, part.count()), part)).isTrue();
    outbox.close();
    assertThat(parts.await(Duration.ofSeconds(1))).isTrue();
    assertThat(outbox.put(Wire.header(Wire.DATA, 1, part.count()), part)).isFalse();
  }

  @Test
  void regionFrameIsReadLikeAnyOther() throws Exception {
    SendQueue outbox = new SendQueue();
    outbox.putControl(Wire.frame(Wire.EOF, 6));
    FileRegion part = next(150_000);
    outbox.put(Wire.header(Wire.DATA, 7, part.count()), part);
    Thread writer = Thread.ofVirtual().start(() -> write(outbox));
    assertThat(parts.await(Duration.ofSeconds(10))).isTrue();
    outbox.close();
    writer.join();
    InputStream in = new ByteArrayInputStream(sent.toByteArray());
    FrameReader frames =
        new FrameReader(new StreamAgentChannel(in, sent, () -> {}), stream -> false);
    assertThat(frames.next().type()).isEqualTo(Wire.EOF);
    Frame data = frames.next();
    assertThat(data.type()).isEqualTo(Wire.DATA);
    assertThat(data.stream()).isEqualTo(7);
    assertThat(data.payload()).isEqualTo(Arrays.copyOf(CONTENT, 150_000));
  }

  private void write(SendQueue outbox) {
    try {
      outbox.writeTo(channel);
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private FileRegion next(int most) throws Exception {
    return Objects.requireNonNull(parts.next(most));
  }

  private void send(FileRegion part) throws IOException {
    part.writeTo(channel);
    part.release();
  }
}
