package dev.isola.compat.e2b.template;

import dev.isola.server.context.Images;
import dev.isola.server.limit.Turnstile;
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
 * Makes the image that every client of E2B expects, when it is first wanted. That takes a minute or
 * two; who would have to wait longer than a request may take is told when to ask again.
 */
public final class BaseImage {
  private static final Duration PATIENCE = Duration.ofSeconds(45);
  private static final String AGAIN_SECONDS = "20";

  private final Images images;
  private final Duration patience;
  private @Nullable CompletableFuture<Images.Stored> making;

  public BaseImage(Images images) {
    this(images, PATIENCE);
  }

  BaseImage(Images images, Duration patience) {
    this.images = images;
    this.patience = patience;
  }

  /** Returns when the image is there. */
  void make() {
    CompletableFuture<Images.Stored> made = begun();
    try {
      made.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw Fault.of(
              ErrorCode.RATE_LIMITED,
              "the image " + Images.BASE + " is being made for the first time",
              "ask again in " + AGAIN_SECONDS + " s")
          .with(Turnstile.RETRY_AFTER, AGAIN_SECONDS)
          .exception(e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof SandboxException why) {
        throw why.fault().exception(why);
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "nobody waits for it any more", "ask again").exception(e);
    }
  }

  /** One makes it; who comes after a failure tries again. */
  private synchronized CompletableFuture<Images.Stored> begun() {
    CompletableFuture<Images.Stored> current = making;
    if (current == null || current.isCompletedExceptionally()) {
      CompletableFuture<Images.Stored> fresh = new CompletableFuture<>();
      Thread.ofVirtual().name("isola-base-image").start(() -> fill(fresh));
      making = fresh;
      return fresh;
    }
    return current;
  }

  private void fill(CompletableFuture<Images.Stored> fresh) {
    try {
      fresh.complete(images.base(words -> {}));
    } catch (RuntimeException e) {
      fresh.completeExceptionally(e);
    }
  }
}
