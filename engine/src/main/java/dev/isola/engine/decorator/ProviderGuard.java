package dev.isola.engine.decorator;

import dev.isola.codec.time.Deadline;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes the calls to one provider and to the objects that it returns. They throw only {@link
 * SandboxException}: anything else, including JVM errors and null results, violates the contract
 * and becomes {@code INTERNAL}. A call with a timeout that exceeds it is interrupted and abandoned.
 *
 * @param provider the provider name, for messages
 */
record ProviderGuard(String provider) {
  /** How long an interrupted call may clean up before it is abandoned. */
  private static final Duration CLEAN_UP = Duration.ofSeconds(30);

  /**
   * Makes a call on this thread, without a timeout.
   *
   * @param what the name of the call, which starts messages, such as {@code "read"}
   */
  <T> T direct(String what, Supplier<? extends @Nullable T> call) {
    T result;
    try {
      result = call.get();
    } catch (Throwable e) {
      throw translated(what, e);
    }
    return required(what, result);
  }

  /** Makes a call without a result on this thread. */
  void runDirect(String what, Runnable call) {
    try {
      call.run();
    } catch (Throwable e) {
      throw translated(what, e);
    }
  }

  /**
   * Makes a call and returns its result.
   *
   * @param what the name of the call, such as {@code "create"}
   * @param timeout how long it may take
   * @param timeoutCode the error code of a timeout
   */
  <T> T call(
      String what, Duration timeout, ErrorCode timeoutCode, Supplier<? extends @Nullable T> call) {
    return call(what, timeout, timeoutCode, call, _ -> {});
  }

  /**
   * Makes a call and returns its result.
   *
   * @param late receives a result that the provider returns after this method has thrown
   */
  <T> T call(
      String what,
      Duration timeout,
      ErrorCode timeoutCode,
      Supplier<? extends @Nullable T> call,
      Consumer<T> late) {
    LateResult<T> returned = new LateResult<>(late);
    FutureTask<@Nullable T> task = new FutureTask<>(() -> returned.pass(call.get()));
    Thread worker = Thread.ofVirtual().name("isola-provider-" + provider + "-" + what).start(task);
    boolean interrupted = false;
    Deadline deadline = Deadline.in(timeout);
    try {
      while (true) {
        try {
          return required(what, task.get(deadline.leftNanos(), TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
          interrupted = true;
          worker.interrupt();
          deadline = deadline.within(CLEAN_UP);
        } catch (TimeoutException e) {
          worker.interrupt();
          returned.abandon();
          throw timedOut(what, timeout, interrupted ? ErrorCode.CANCELLED : timeoutCode);
        }
      }
    } catch (ExecutionException e) {
      throw translated(what, e.getCause());
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Makes a call without a result. */
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

  private <T> T required(String what, @Nullable T result) {
    if (result == null) {
      throw contractViolation(what, "it returned null", null);
    }
    return result;
  }

  /** Returns what the caller gets instead of what the provider has thrown. */
  SandboxException translated(String what, @Nullable Throwable thrown) {
    return thrown instanceof SandboxException known
        ? known
        : contractViolation(what, String.valueOf(thrown), thrown);
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

  private SandboxException contractViolation(String what, String how, @Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.INTERNAL,
            what + " of provider " + provider + " violated its contract: " + how,
            "this is a bug in the provider; please report it")
        .with("provider", provider)
        .exception(cause);
  }

  /** The result of a call whose caller may have given up before it arrives. */
  private static final class LateResult<T> {
    private final Consumer<T> late;
    private @Nullable T returned;
    private boolean abandoned;

    LateResult(Consumer<T> late) {
      this.late = late;
    }

    /** Passes on the result of the call. */
    synchronized @Nullable T pass(@Nullable T result) {
      returned = result;
      passIfAbandoned();
      return result;
    }

    /** Called if the caller does not get the result. */
    synchronized void abandon() {
      abandoned = true;
      passIfAbandoned();
    }

    private void passIfAbandoned() {
      T result = returned;
      if (abandoned && result != null) {
        returned = null;
        Thread.ofVirtual().name("isola-late-result").start(() -> late.accept(result));
      }
    }
  }
}
