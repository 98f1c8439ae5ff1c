package dev.isola.engine.registry;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the calls of one provider. A call takes bounded time, and only {@link SandboxException}
 * comes out: whatever else a provider throws, errors of the JVM and null included, is a breach of
 * the contract and becomes {@code INTERNAL}. A call that does not end in time is interrupted and
 * abandoned.
 *
 * @param provider the name, for messages
 */
record ProviderGuard(String provider) {
  /** How long an interrupted call has to clean up before it is abandoned. */
  private static final Duration CLEAN_UP = Duration.ofSeconds(30);

  /**
   * Returns what the call returns.
   *
   * @param what the call, as the start of a sentence: {@code "create"}
   * @param most how long it may take
   * @param late the code of the error when it takes longer
   */
  <T> T call(String what, Duration most, ErrorCode late, Supplier<@Nullable T> call) {
    FutureTask<@Nullable T> task = new FutureTask<>(call::get);
    Thread worker = Thread.ofVirtual().name("isola-provider-" + provider + "-" + what).start(task);
    boolean interrupted = false;
    long end = System.nanoTime() + most.toNanos();
    try {
      while (true) {
        try {
          T result = task.get(Math.max(1, end - System.nanoTime()), TimeUnit.NANOSECONDS);
          if (result == null) {
            throw contractViolation(what, "it returned nothing", null);
          }
          return result;
        } catch (InterruptedException e) {
          interrupted = true;
          worker.interrupt();
          end = Math.min(end, System.nanoTime() + CLEAN_UP.toNanos());
        } catch (TimeoutException e) {
          worker.interrupt();
          throw timedOut(what, most, interrupted ? ErrorCode.CANCELLED : late);
        }
      }
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      throw cause instanceof SandboxException known
          ? known
          : contractViolation(what, String.valueOf(cause), cause);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Runs a call that returns nothing. */
  void run(String what, Duration most, ErrorCode late, Runnable call) {
    boolean _ =
        call(
            what,
            most,
            late,
            () -> {
              call.run();
              return true;
            });
  }

  private SandboxException timedOut(String what, Duration most, ErrorCode code) {
    return Fault.of(
            code,
            what + " of provider " + provider + " did not end within " + most.toSeconds() + " s",
            "see whether its backend hangs; what is left is removed when it answers again")
        .with("provider", provider)
        .exception();
  }

  /** Returns the exception for what a provider must not throw or return. */
  SandboxException contractViolation(String what, String how, @Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.INTERNAL,
            what + " of provider " + provider + " failed in a way it must not: " + how,
            "this is a bug of the provider; please report it")
        .with("provider", provider)
        .exception(cause);
  }
}
