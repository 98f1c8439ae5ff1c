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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class BaseImageBuilderTest {
  private static final ImageService.ImageDetails MADE =
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

  private final AtomicInteger begun = new AtomicInteger();

  /** Images that can make base and nothing else. */
  private ImageService making(Supplier<ImageService.ImageDetails> work) {
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
      public ImageDetails buildBase(Consumer<String> progress) {
        begun.incrementAndGet();
        return work.get();
      }

      @Override
      public void remove(String name) {
        NONE.remove(name);
      }
    };
  }

  @Test
  void oneMakesItAndAllWait() throws InterruptedException {
    CountDownLatch go = new CountDownLatch(1);
    BaseImageBuilder base =
        new BaseImageBuilder(
            making(
                () -> {
                  await(go);
                  return MADE;
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
    assertThat(begun).hasValue(1);
  }

  @Test
  void whoWouldWaitTooLongIsToldWhenToAskAgain() {
    CountDownLatch go = new CountDownLatch(1);
    BaseImageBuilder base =
        new BaseImageBuilder(
            making(
                () -> {
                  await(go);
                  return MADE;
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
    assertThat(begun).hasValue(1);
  }

  @Test
  void afterAFailureItIsTriedAgain() {
    Supplier<ImageService.ImageDetails> second =
        () -> {
          if (begun.get() == 1) {
            throw Fault.of(ErrorCode.NOT_IMPLEMENTED, "no mmdebstrap", "install it").exception();
          }
          return MADE;
        };
    BaseImageBuilder base = new BaseImageBuilder(making(second), Duration.ofMinutes(1));
    assertThatThrownBy(base::ensureBuilt).hasMessageContaining("no mmdebstrap");
    assertThatCode(base::ensureBuilt).doesNotThrowAnyException();
    assertThat(begun).hasValue(2);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
