package dev.isola.compat.e2b.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.server.context.ImageService;
import dev.isola.server.limit.RateLimiter;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class BaseImageBuilderTest {
  private static final ImageService.ImageDetails BASE_IMAGE =
      new ImageService.ImageDetails(
          ImageService.BASE,
          Instant.EPOCH,
          "test",
          "",
          0,
          0,
          "amd64",
          Optional.empty(),
          Optional.empty(),
          Map.of(),
          List.of());

  private final AtomicInteger builds = new AtomicInteger();

  /** Returns an image service that can only build the base image. */
  private ImageService imageService(Supplier<ImageService.ImageDetails> work) {
    return new ImageService() {
      @Override
      public List<ImageDetails> list() {
        return List.of();
      }

      @Override
      public ImageDetails get(String name) {
        return NONE.get(name);
      }

      @Override
      public ImageDetails importArchive(String name, InputStream archive, boolean replace) {
        return NONE.importArchive(name, archive, replace);
      }

      @Override
      public ImageDetails pull(
          String name, String source, boolean replace, Consumer<String> progress) {
        return NONE.pull(name, source, replace, progress);
      }

      @Override
      public Set<String> ready() {
        return Set.of(BASE);
      }

      @Override
      public ImageDetails buildReady(
          String name, String ready, boolean replace, Consumer<String> progress) {
        builds.incrementAndGet();
        return work.get();
      }

      @Override
      public void remove(String name) {
        NONE.remove(name);
      }
    };
  }

  @Test
  void concurrentRequestsShareOneBuild() throws InterruptedException {
    CountDownLatch go = new CountDownLatch(1);
    BaseImageBuilder base =
        new BaseImageBuilder(
            imageService(
                () -> {
                  await(go);
                  return BASE_IMAGE;
                }),
            Duration.ofMinutes(1));
    List<Thread> waiting = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      waiting.add(Thread.ofVirtual().start(base::ensureBuilt));
    }
    go.countDown();
    for (Thread one : waiting) {
      one.join();
    }
    assertThat(builds).hasValue(1);
  }

  @Test
  void waitBeyondTheTimeoutFailsWithRetryAfter() {
    CountDownLatch go = new CountDownLatch(1);
    BaseImageBuilder base =
        new BaseImageBuilder(
            imageService(
                () -> {
                  await(go);
                  return BASE_IMAGE;
                }),
            Duration.ofMillis(10));
    assertThatThrownBy(base::ensureBuilt)
        .isInstanceOfSatisfying(
            SandboxException.class,
            e -> {
              assertThat(e.code()).isEqualTo(ErrorCode.RATE_LIMITED);
              assertThat(e.fault().context()).containsKey(RateLimiter.RETRY_AFTER);
            });
    go.countDown();
    assertThat(builds).hasValue(1);
  }

  @Test
  void failedBuildIsRetried() {
    Supplier<ImageService.ImageDetails> second =
        () -> {
          if (builds.get() == 1) {
            throw Fault.of(ErrorCode.NOT_IMPLEMENTED, "no mmdebstrap", "install it").exception();
          }
          return BASE_IMAGE;
        };
    BaseImageBuilder base = new BaseImageBuilder(imageService(second), Duration.ofMinutes(1));
    assertThatThrownBy(base::ensureBuilt).hasMessageContaining("no mmdebstrap");
    assertThatCode(base::ensureBuilt).doesNotThrowAnyException();
    assertThat(builds).hasValue(2);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
