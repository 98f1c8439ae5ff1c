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
  private static final Duration PATIENCE = Duration.ofSeconds(45);
  private static final String AGAIN_SECONDS = "20";

  private final ImageService images;
  private final Duration patience;
  private @Nullable CompletableFuture<ImageService.ImageDetails> making;

  public BaseImageBuilder(ImageService images) {
    this(images, PATIENCE);
  }

  BaseImageBuilder(ImageService images, Duration patience) {
    this.images = images;
    this.patience = patience;
  }

  /** Returns once the image exists. */
  void ensureBuilt() {
    CompletableFuture<ImageService.ImageDetails> made = startBuild();
    try {
      made.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw Fault.of(
              ErrorCode.RATE_LIMITED,
              "the image " + ImageService.BASE + " is being built for the first time",
              "try again in " + AGAIN_SECONDS + " s")
          .with(RateLimiter.RETRY_AFTER, AGAIN_SECONDS)
          .exception(e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof SandboxException why) {
        throw why.fault().exception(why);
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "the client disconnected", "try again").exception(e);
    }
  }

  /** Returns the running build, or starts one if there is none or the last one failed. */
  private synchronized CompletableFuture<ImageService.ImageDetails> startBuild() {
    CompletableFuture<ImageService.ImageDetails> current = making;
    if (current == null || current.isCompletedExceptionally()) {
      CompletableFuture<ImageService.ImageDetails> fresh = new CompletableFuture<>();
      Thread.ofVirtual().name("isola-base-image").start(() -> build(fresh));
      making = fresh;
      return fresh;
    }
    return current;
  }

  private void build(CompletableFuture<ImageService.ImageDetails> fresh) {
    try {
      fresh.complete(images.buildBase(words -> {}));
    } catch (RuntimeException e) {
      fresh.completeExceptionally(e);
    }
  }
}
