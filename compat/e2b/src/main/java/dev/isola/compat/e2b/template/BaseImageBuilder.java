package dev.isola.compat.e2b.template;

import dev.isola.server.context.ImageService;
import dev.isola.server.limit.RateLimiter;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Builds the image that E2B's clients expect, on first use. A build takes a minute or two; a
 * request that would wait too long fails with the time after which to retry.
 */
public final class BaseImageBuilder {
  private static final Duration WAIT_TIMEOUT = Duration.ofSeconds(45);
  private static final String RETRY_SECONDS = "20";

  private final ImageService images;
  private final Duration timeout;
  private @Nullable CompletableFuture<ImageService.ImageDetails> runningBuild;

  public BaseImageBuilder(ImageService images) {
    this(images, WAIT_TIMEOUT);
  }

  BaseImageBuilder(ImageService images, Duration timeout) {
    this.images = images;
    this.timeout = timeout;
  }

  /** Returns once the image exists. */
  void ensureBuilt() {
    CompletableFuture<ImageService.ImageDetails> build = startBuild();
    try {
      build.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw Fault.of(
              ErrorCode.RATE_LIMITED,
              "the image " + ImageService.BASE + " is being built for the first time",
              "try again in " + RETRY_SECONDS + " s")
          .with(RateLimiter.RETRY_AFTER, RETRY_SECONDS)
          .exception(e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof SandboxException failure) {
        throw failure.fault().exception(failure);
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "the client disconnected", "try again").exception(e);
    }
  }

  /** Returns the running build, or starts one if there is none or the last one failed. */
  private synchronized CompletableFuture<ImageService.ImageDetails> startBuild() {
    CompletableFuture<ImageService.ImageDetails> current = runningBuild;
    if (current == null || current.isCompletedExceptionally()) {
      CompletableFuture<ImageService.ImageDetails> newBuild = new CompletableFuture<>();
      Thread.ofVirtual().name("isola-base-image").start(() -> build(newBuild));
      runningBuild = newBuild;
      return newBuild;
    }
    return current;
  }

  private void build(CompletableFuture<ImageService.ImageDetails> newBuild) {
    try {
      newBuild.complete(images.buildBase(words -> {}));
    } catch (RuntimeException e) {
      newBuild.completeExceptionally(e);
    }
  }
}
