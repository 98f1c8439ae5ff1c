package dev.isola.engine.decorator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.Internal;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ProviderGuardTest {
  private static final Duration LONG = Duration.ofMinutes(5);
  private final ProviderGuard guard = new ProviderGuard("fake");

  static Stream<Throwable> notOfTheContract() {
    return Stream.of(
        new IllegalStateException("broken"),
        new StackOverflowError(),
        new NoClassDefFoundError("com/example/Missing"),
        new AssertionError("never"),
        new IOException("sneaked"));
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> void sneak(Throwable thrown) throws E {
    throw (E) thrown;
  }

  @ParameterizedTest
  @MethodSource("notOfTheContract")
  void undeclaredExceptionsAreTranslated(Throwable thrown) {
    assertThatThrownBy(
            () ->
                guard.run(
                    "destroy",
                    LONG,
                    ErrorCode.INTERNAL,
                    () -> ProviderGuardTest.<RuntimeException>sneak(thrown)))
        .isInstanceOf(Internal.class)
        .hasMessageContainingAll("destroy of provider fake", thrown.toString())
        .hasCause(thrown);
  }

  @Test
  void nullResultIsAContractViolation() {
    assertThatThrownBy(() -> guard.call("create", LONG, ErrorCode.INTERNAL, () -> null))
        .isInstanceOf(Internal.class);
  }

  @Test
  void contractExceptionsPassUnchanged() {
    SandboxException known = Fault.of(ErrorCode.RESOURCE_LIMIT, "full", "wait").exception();
    assertThatThrownBy(
            () ->
                guard.run(
                    "create",
                    LONG,
                    ErrorCode.INTERNAL,
                    () -> {
                      throw known;
                    }))
        .isSameAs(known);
  }

  @Test
  void hangingCallIsInterruptedAndAbandoned() throws InterruptedException {
    CountDownLatch interrupted = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    assertThatThrownBy(
            () ->
                guard.run(
                    "create",
                    Duration.ofMillis(50),
                    ErrorCode.OUTCOME_UNKNOWN,
                    () -> {
                      try {
                        never.await();
                      } catch (InterruptedException e) {
                        interrupted.countDown();
                      }
                    }))
        .isInstanceOf(OutcomeUnknown.class)
        .hasMessageContaining("create of provider fake timed out");
    interrupted.await();
  }

  @Test
  void interruptedCallerInterruptsTheCallAndWaits() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
    Thread caller =
        Thread.startVirtualThread(
            () -> {
              try {
                guard.run(
                    "create",
                    LONG,
                    ErrorCode.INTERNAL,
                    () -> {
                      begun.countDown();
                      try {
                        never.await();
                      } catch (InterruptedException e) {
                        throw Fault.of(ErrorCode.CANCELLED, "cleaned up", "").exception(e);
                      }
                    });
              } catch (SandboxException e) {
                thrown.set(Thread.currentThread().isInterrupted() ? e : null);
              }
            });
    begun.await();
    caller.interrupt();
    await().until(() -> !caller.isAlive());
    assertThat(thrown.get()).isNotNull().hasMessageContaining("cleaned up");
  }
}
