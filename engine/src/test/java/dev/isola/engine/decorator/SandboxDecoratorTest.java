package dev.isola.engine.decorator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Forking;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.DeadlineExceeded;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.Internal;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SandboxDecoratorTest {
  private static final SandboxId ID = new SandboxId("box");
  private static final Command COMMAND = Command.shell("true");
  private static final Duration SHORT = Duration.ofMillis(50);
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final TimeLimits LIMITS = new TimeLimits(LONG, LONG, LONG, LONG, LONG);
  private static final TimeLimits SHORT_CHANGES = new TimeLimits(LONG, SHORT, LONG, LONG, LONG);

  /** The exception of every call of the sandbox and of the objects that it returns. */
  private @Nullable Throwable failure = new IllegalStateException("broken");

  private final CountDownLatch interrupted = new CountDownLatch(1);
  private final AtomicReference<@Nullable Thread> caller = new AtomicReference<>();

  /** Returns a fake of a contract interface whose methods all behave the same. */
  private <T> T fake(Class<T> type, Answer answer) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              caller.set(Thread.currentThread());
              return answer.get();
            }));
  }

  /** The behaviour of a fake. */
  private interface Answer {
    @Nullable Object get() throws Throwable;
  }

  private Object fail() throws Throwable {
    if (failure == null) {
      return Optional.empty();
    }
    throw failure;
  }

  private Object hang() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      interrupted.countDown();
    }
    return true;
  }

  /** A fake sandbox that returns fakes. */
  private final class FakeSandbox implements Sandbox {
    private final Answer answer;

    FakeSandbox(Answer answer) {
      this.answer = answer;
    }

    @Override
    public SandboxId id() {
      return ID;
    }

    @Override
    public SandboxState state() {
      return SandboxState.RUNNING;
    }

    @Override
    public Execution start(Command command) {
      caller.set(Thread.currentThread());
      return fake(Terminal.class, answer);
    }

    @Override
    public FileSystem files() {
      return fake(FileSystem.class, answer);
    }

    @Override
    public <C extends Capability> Optional<C> as(Class<C> capability) {
      return capability == Attaching.class
          ? Optional.empty()
          : Optional.of(fake(capability, answer));
    }
  }

  private Sandbox decorated(Answer answer) {
    return decorated(answer, LIMITS);
  }

  private Sandbox decorated(Answer answer, TimeLimits limits) {
    return new SandboxDecorator(
        new FakeSandbox(answer), new ProviderGuard("fake"), limits, SandboxObserver.NONE);
  }

  @Test
  void undeclaredExceptionsAreTranslated() {
    Sandbox sandbox = decorated(this::fail);
    assertThat(sandbox.id()).isEqualTo(ID);
    for (Throwable thrown :
        new Throwable[] {new IllegalStateException("broken"), new AssertionError("never")}) {
      failure = thrown;
      assertThatThrownBy(() -> sandbox.files().exists("/a"))
          .isInstanceOf(Internal.class)
          .hasMessageContainingAll("exists of provider fake", thrown.toString())
          .hasCause(thrown);
      assertThatThrownBy(() -> sandbox.start(COMMAND).await()).isInstanceOf(Internal.class);
      assertThatThrownBy(() -> sandbox.as(Pausing.class).orElseThrow().resume())
          .isInstanceOf(Internal.class);
      assertThatThrownBy(() -> sandbox.as(PortDialing.class).orElseThrow().dial(80))
          .isInstanceOf(Internal.class);
    }
  }

  @Test
  void contractExceptionsPassUnchanged() {
    SandboxException known = Fault.of(ErrorCode.FILE_NOT_FOUND, "no file", "").exception();
    failure = known;
    Sandbox sandbox = decorated(this::fail);
    assertThatThrownBy(() -> sandbox.files().exists("/a")).isSameAs(known);
    assertThatThrownBy(() -> sandbox.as(Pausing.class).orElseThrow().resume()).isSameAs(known);
    // A connection is a channel, whose methods declare IOException.
    IOException reset = new IOException("reset");
    Sandbox connected =
        decorated(
            () ->
                fake(
                    PortDialing.Connection.class,
                    () -> {
                      throw reset;
                    }));
    PortDialing.Connection connection = connected.as(PortDialing.class).orElseThrow().dial(80);
    assertThatThrownBy(() -> connection.read(ByteBuffer.allocate(1))).isSameAs(reset);
  }

  @Test
  void hangingCallIsInterruptedAndAbandoned() throws InterruptedException {
    Pausing pausing = decorated(this::hang, SHORT_CHANGES).as(Pausing.class).orElseThrow();
    assertThatThrownBy(() -> pausing.pause(Pausing.PauseKind.MEMORY))
        .isInstanceOf(DeadlineExceeded.class)
        .hasMessageContaining("pause of provider fake timed out");
    interrupted.await();
  }

  @Test
  void forkTimeoutReportsAnUnknownOutcome() {
    Forking.ForkPoint origin = fake(Forking.ForkPoint.class, this::hang);
    Sandbox sandbox = decorated(() -> origin, new TimeLimits(SHORT, LONG, SHORT, LONG, LONG));
    Forking.ForkPoint guarded = sandbox.as(Forking.class).orElseThrow().createForkPoint();
    assertThatThrownBy(guarded::close).isInstanceOf(DeadlineExceeded.class);
    SandboxSpec spec = SandboxSpec.builder(ID).startupTimeout(Duration.ofMillis(1)).build();
    assertThatThrownBy(() -> guarded.create(spec)).isInstanceOf(OutcomeUnknown.class);
  }

  @Test
  void forkPointThatArrivesAfterTheTimeoutIsClosed() throws InterruptedException {
    CountDownLatch closed = new CountDownLatch(1);
    MemoryForking.MemoryForkPoint late =
        fake(
            MemoryForking.MemoryForkPoint.class,
            () -> {
              closed.countDown();
              return true;
            });
    Sandbox sandbox =
        decorated(
            () -> {
              hang();
              return late;
            },
            SHORT_CHANGES);
    MemoryForking memory = sandbox.as(MemoryForking.class).orElseThrow();
    assertThatThrownBy(memory::createForkPoint).isInstanceOf(DeadlineExceeded.class);
    assertThat(closed.await(60, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void commandsAndFilesRunOnTheCallingThread() {
    failure = null;
    Sandbox sandbox = decorated(this::fail);
    Execution execution = sandbox.start(COMMAND);
    assertThat(caller.get()).isSameAs(Thread.currentThread());
    caller.set(null);
    assertThat(execution.read()).isEmpty();
    assertThat(caller.get()).isSameAs(Thread.currentThread());
  }

  @Test
  void terminalsAndCapabilitiesStayWhatTheyAre() {
    Sandbox sandbox = decorated(this::fail);
    assertThat(sandbox.start(COMMAND)).isInstanceOf(Terminal.class);
    assertThat(sandbox.as(Attaching.class)).isEmpty();
    assertThat(sandbox.as(Pausing.class)).isPresent();
    assertThat(List.of(sandbox)).contains(sandbox).doesNotContain(decorated(this::fail));
  }

  @Test
  void nullResultIsAContractViolation() {
    assertThatThrownBy(() -> decorated(() -> null).start(COMMAND).await())
        .isInstanceOf(Internal.class)
        .hasMessageContaining("returned null");
  }
}
