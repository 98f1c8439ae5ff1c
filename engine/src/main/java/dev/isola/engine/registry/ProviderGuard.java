package dev.isola.engine.registry;

import dev.isola.codec.time.Deadline;
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
 * Runs the calls of one provider. Each call has a timeout and throws only {@link SandboxException}:
 * anything else, including JVM errors and null results, violates the contract and becomes {@code
 * INTERNAL}. A call that exceeds its timeout is interrupted and abandoned.
 *
 * @param provider the provider name, for messages
 */
record ProviderGuard(String provider) {
  /** How long an interrupted call may clean up before it is abandoned. */
  private static final Duration CLEAN_UP = Duration.ofSeconds(30);

  /**
   * Runs a call and returns its result.
   *
   * @param what the name of the call, which starts messages, such as {@code "create"}
   * @param timeout how long it may take
   * @param timeoutCode the error code of a timeout
   */
  <T> T call(String what, Duration timeout, ErrorCode timeoutCode, Supplier<@Nullable T> call) {
    FutureTask<@Nullable T> task = new FutureTask<>(call::get);
    Thread worker = Thread.ofVirtual().name("isola-provider-" + provider + "-" + what).start(task);
    boolean interrupted = false;
    Deadline deadline = Deadline.in(timeout);
    try {
      while (true) {
        try {
          T result = task.get(deadline.leftNanos(), TimeUnit.NANOSECONDS);
          if (result == null) {
            throw contractViolation(what, "it returned null", null);
          }
          return result;
        } catch (InterruptedException e) {
          interrupted = true;
          worker.interrupt();
          deadline = deadline.within(CLEAN_UP);
        } catch (TimeoutException e) {
          worker.interrupt();
          throw timedOut(what, timeout, interrupted ? ErrorCode.CANCELLED : timeoutCode);
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

  /** Runs a call without a result. */
  void run(String what, Duration timeout, ErrorCode timeoutCode, Runnable call) {
    boolean _ =
        call(
            what,
            timeout,
            timeoutCode,
            () -> {
              call.run();
              return true;
            });
  }

  private SandboxException timedOut(String what, Duration timeout, ErrorCode code) {
    return Fault.of(
            code,
            what + " of provider " + provider + " timed out after " + timeout.toSeconds() + " s",
            "check whether its backend hangs; anything left behind is removed when it answers"
                + " again")
        .with("provider", provider)
        .exception();
  }

  /** Returns the exception for a violation of the contract. */
  SandboxException contractViolation(String what, String how, @Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.INTERNAL,
            what + " of provider " + provider + " violated its contract: " + how,
            "this is a bug in the provider; please report it")
        .with("provider", provider)
        .exception(cause);
  }
}
