package dev.isola.provider.http;

import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.provider.BasicFeature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A command that one request runs, on a thread of its own. Standard input is collected and sent
 * with the request, which begins when the caller closes the input or asks for output.
 */
final class SimpleExecution implements Execution {
  private static final Duration LONGEST = Duration.ofHours(24);

  /** A program that cannot be started fails at once; the caller learns it from the start. */
  private static final Duration START = Duration.ofMillis(250);

  private final ExecutionId id = new ExecutionId(UUID.randomUUID().toString());
  private final SimpleSandbox sandbox;
  private final ExecRequest request;
  private final Input input = new Input();
  private final long started = System.nanoTime();
  private final CompletableFuture<ExecResponse> result = new CompletableFuture<>();
  private @Nullable Thread thread;
  private volatile boolean killed;
  private volatile @Nullable Duration failedAfter;
  private int next;

  private SimpleExecution(SimpleSandbox sandbox, Command command) {
    this.sandbox = sandbox;
    this.request =
        new ExecRequest(
            sandbox.backend(),
            sandbox.id(),
            command,
            command.cwd().map(this::absolute).orElse(sandbox.note().folder()),
            command.timeout().or(sandbox.note()::timeout).orElse(LONGEST));
  }

  private String absolute(String path) {
    return path.startsWith("/") ? path : sandbox.note().folder() + "/" + path;
  }

  static SimpleExecution start(SimpleSandbox sandbox, Command command) {
    SimpleExecution execution = new SimpleExecution(sandbox, command);
    if (!command.stdin()) {
      execution.begin();
      execution.throwEarlyFailure();
    }
    return execution;
  }

  private synchronized void begin() {
    if (thread == null && !killed) {
      thread = Thread.ofVirtual().name("backend-exec").start(this::run);
    }
  }

  private void run() {
    try {
      result.complete(request.send(input.toByteArray()));
    } catch (RuntimeException e) {
      fail(e);
    }
  }

  private void fail(RuntimeException why) {
    failedAfter = Duration.ofNanos(System.nanoTime() - started);
    result.completeExceptionally(why);
  }

  private void throwEarlyFailure() {
    if (await(result, START) && result.isCompletedExceptionally() && !killed) {
      response();
    }
  }

  @Override
  public ExecutionId id() {
    return id;
  }

  /** The protocol does not tell it. */
  @Override
  public long pid() {
    return 0;
  }

  @Override
  public OutputStream stdin() {
    return request.command().stdin() ? input : OutputStream.nullOutputStream();
  }

  @Override
  public Optional<Output> read() {
    begin();
    if (killed) {
      return Optional.empty();
    }
    await(result, LONGEST);
    if (killed) {
      return Optional.empty();
    }
    List<Output> output = response().output();
    return next < output.size() ? Optional.of(output.get(next++)) : Optional.empty();
  }

  @Override
  public Exit await() {
    begin();
    await(result, LONGEST);
    if (killed) {
      return new Exit.Signaled(Signal.KILL);
    }
    if (result.isCompletedExceptionally() && sandbox.state() == SandboxState.DESTROYED) {
      return new Exit.Lost("the sandbox was destroyed");
    }
    return response().exit();
  }

  @Override
  public Optional<Exit> await(Duration time) {
    begin();
    return await(result, time) ? Optional.of(await()) : Optional.empty();
  }

  private ExecResponse response() {
    try {
      return result.join();
    } catch (java.util.concurrent.CompletionException e) {
      throw e.getCause() instanceof SandboxException failure ? sandbox.translated(failure) : e;
    }
  }

  /** Returns whether the response has arrived. */
  private static boolean await(CompletableFuture<?> future, Duration time) {
    try {
      future.get(time.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (ExecutionException e) {
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "waiting for a command was interrupted", "").exception();
    }
  }

  @Override
  public Duration duration() {
    if (result.isDone() && !result.isCompletedExceptionally()) {
      return response().duration();
    }
    Duration failed = failedAfter;
    return failed == null ? Duration.ofNanos(System.nanoTime() - started) : failed;
  }

  @Override
  public void signal(Signal signal) {
    if (!signal.equals(Signal.KILL)) {
      throw Capability.unsupported(HttpSettings.NAME, BasicFeature.SIGNALS.displayName());
    }
    kill();
  }

  /** Closes the connection, which makes the backend kill the command. */
  @Override
  public synchronized void kill() {
    if (result.isDone()) {
      return;
    }
    killed = true;
    if (thread == null) {
      fail(new IllegalStateException("killed before it began"));
    } else {
      thread.interrupt();
    }
  }

  /** The command keeps running. */
  @Override
  public void close() {
    // Its output is held until the caller drops this object.
  }

  /** Collects the input in memory. */
  private final class Input extends OutputStream {
    private static final int LIMIT = 16 << 20;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private boolean closed;

    synchronized byte[] toByteArray() {
      closed = true;
      return bytes.toByteArray();
    }

    @Override
    public synchronized void write(byte[] from, int offset, int count) throws IOException {
      if (closed) {
        throw new IOException("the command has begun, and its input is complete");
      }
      if (bytes.size() + count > LIMIT) {
        throw new IOException("the input is longer than " + LIMIT + " bytes; write it to a file");
      }
      bytes.write(from, offset, count);
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void close() {
      begin();
    }
  }
}
