package dev.isola.engine.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.engine.lifecycle.OperationLocks;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.DeadlineExceeded;
import dev.isola.spi.error.ProviderUnavailable;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Issue 41, 14: one sandbox that never finishes must not occupy the snapshot store. */
@Timeout(60)
class CaptureLimitsTest {
  private static final SandboxId ONE = new SandboxId("one");
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

  @Test
  void oneCaptureOfASandboxRunsAtATime() throws Exception {
    OperationLocks locks = new OperationLocks("another snapshot");
    try (OperationLocks.Handle _ = locks.take(ONE, SHORT)) {
      FutureTask<Void> other =
          new FutureTask<>(
              () -> {
                assertThatThrownBy(() -> locks.take(ONE, SHORT))
                    .isInstanceOf(ProviderUnavailable.class)
                    .hasMessageContaining("another snapshot of sandbox one");
                assertThat(locks.tryTake(ONE)).isEmpty();
                locks.take(new SandboxId("two"), SHORT).close();
                return null;
              });
      Thread.ofVirtual().start(other);
      other.get();
    }
    locks.tryTake(ONE).orElseThrow().close();
  }
}
