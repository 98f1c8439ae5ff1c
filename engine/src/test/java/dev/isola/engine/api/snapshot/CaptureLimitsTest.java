package dev.isola.engine.api.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.api.SnapshotRequest;
import dev.isola.engine.snapshot.TimeLimit;
import dev.isola.spi.error.DeadlineExceeded;
import dev.isola.spi.error.InvalidRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Second audit, finding 14: one sandbox that never finishes must not occupy the snapshot store. */
@Timeout(60)
class CaptureLimitsTest {
  private static final Duration SHORT = Duration.ofMillis(1);

  @Test
  void anArchiveThatNeverEndsIsEnded() throws IOException {
    AtomicLong now = new AtomicLong(17);
    TimeLimit limit = new TimeLimit("the files", Duration.ofMinutes(30), now::get);
    InputStream endless =
        new InputStream() {
          @Override
          public int read() {
            now.addAndGet(Duration.ofMinutes(1).toNanos());
            return 'x';
          }

          @Override
          public int read(byte[] to, int offset, int length) {
            to[offset] = (byte) read();
            return 1;
          }
        };
    try (InputStream archive = limit.wrap(endless)) {
      assertThat(archive.read()).isEqualTo('x');
      assertThatThrownBy(archive::readAllBytes)
          .isInstanceOf(DeadlineExceeded.class)
          .hasMessageContaining("30 min");
    }
    // A second archive of the same capture has no time of its own.
    try (InputStream next = limit.wrap(endless)) {
      assertThatThrownBy(next::read).isInstanceOf(DeadlineExceeded.class);
    }
  }

  /** A sandbox that sends nothing is only noticed by another thread. */
  @Test
  void aCaptureThatStallsIsEndedWhileOthersWait() throws Exception {
    AtomicLong now = new AtomicLong(17);
    AtomicBoolean othersWait = new AtomicBoolean(true);
    CaptureWatchdog watchdog = watchdog(now, othersWait);
    CountDownLatch never = new CountDownLatch(1);
    assertThatThrownBy(
            () ->
                watchdog.run(
                    () -> {
                      now.addAndGet(CaptureWatchdog.GRACE.toNanos() + 1);
                      return read(watchdog, new StalledContent(never));
                    }))
        .isInstanceOf(DeadlineExceeded.class)
        .hasMessageContaining("the files were read too slowly while other snapshots waited")
        .hasCauseInstanceOf(UncheckedIOException.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void aCaptureIsNotEndedWhileItIsFastOrAloneOrHasJustBegun() throws Exception {
    long late = CaptureWatchdog.GRACE.toNanos() + 1;
    long enough = CaptureWatchdog.GRACE.toSeconds() * CaptureWatchdog.LEAST_BYTES_PER_SECOND;
    assertThat(asks(late, enough - 1)).as("slow").isPositive();
    assertThat(asks(late, enough)).as("fast").isZero();
    assertThat(asks(late / 2, 0)).as("has just begun").isZero();
  }

  /**
   * Returns how often a watchdog asked whether others wait, which they do not, in a capture that
   * has read so many bytes.
   */
  private static int asks(long elapsed, long bytes) {
    AtomicLong now = new AtomicLong(17);
    AtomicLong clockReads = new AtomicLong();
    AtomicInteger asked = new AtomicInteger();
    CaptureWatchdog watchdog =
        new CaptureWatchdog(
            "the files",
            () -> {
              asked.incrementAndGet();
              return false;
            },
            () -> {
              clockReads.incrementAndGet();
              return now.get();
            },
            SHORT);
    return watchdog.run(
        () -> {
          read(watchdog, new ZeroContent(bytes));
          now.addAndGet(elapsed);
          long before = clockReads.get();
          await().until(() -> clockReads.get() > before + 2);
          return asked.get();
        });
  }

  private static CaptureWatchdog watchdog(AtomicLong now, AtomicBoolean othersWait) {
    return new CaptureWatchdog("the files", othersWait::get, now::get, SHORT);
  }

  private static int read(CaptureWatchdog watchdog, InputStream content) {
    try (InputStream archive = watchdog.wrap(content)) {
      byte[] buffer = new byte[1 << 20];
      while (archive.read(buffer, 0, buffer.length) >= 0) {
        // the next bytes
      }
      return 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Content that never comes. */
  private static final class StalledContent extends InputStream {
    private final CountDownLatch never;

    StalledContent(CountDownLatch never) {
      this.never = never;
    }

    @Override
    public int read() throws IOException {
      try {
        never.await();
        return -1;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new ClosedByInterruptException();
      }
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
      return read();
    }
  }

  /** So many zeros. */
  private static final class ZeroContent extends InputStream {
    private long left;

    ZeroContent(long length) {
      this.left = length;
    }

    @Override
    public int read() {
      return left-- > 0 ? 0 : -1;
    }

    @Override
    public int read(byte[] to, int offset, int length) {
      int n = (int) Math.min(left, length);
      left -= n;
      return n == 0 ? -1 : n;
    }
  }

  /** Lists and garbage collection have the tags of all snapshots in memory. */
  @Test
  void longTagsAndPatternsAreRefused() {
    String text = "t".repeat(33 << 10);
    assertThat(SnapshotRequest.EVERYTHING.withTags(Map.of("name", text)).tags()).hasSize(1);
    assertThatThrownBy(() -> SnapshotRequest.EVERYTHING.withTags(Map.of("a", text, "b", text)))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("tags and patterns");
    assertThatThrownBy(() -> SnapshotRequest.EVERYTHING.withTags(Map.of(text, text)))
        .isInstanceOf(InvalidRequest.class);
    assertThatThrownBy(
            () ->
                new SnapshotRequest(Map.of("a", text), Optional.empty(), List.of(), List.of(text)))
        .isInstanceOf(InvalidRequest.class);
  }
}
