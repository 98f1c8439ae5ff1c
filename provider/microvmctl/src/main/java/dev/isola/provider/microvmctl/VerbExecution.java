package dev.isola.provider.microvmctl;

import dev.isola.spi.Bytes;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.provider.BasicFeature;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * A command that a process of the controller runs. Two threads put its output into a bounded queue,
 * so that a caller that does not read blocks the command.
 */
final class VerbExecution implements Execution {
  private static final int TIMED_OUT = 124;
  private static final int SSH_FAILED = 255;
  private static final int PIECE = 32 * 1024;
  private static final int PIECES = 16;

  /** What is read from the queue: output, or the end of a channel. */
  private record Piece(Channel channel, Bytes bytes) {}

  private final ExecutionId id = new ExecutionId(UUID.randomUUID().toString());
  private final Controller controller;
  private final ControllerProcess process;
  private final Command command;
  private final Duration timeout;
  private final long started = System.nanoTime();
  private final BlockingQueue<Piece> queue = new ArrayBlockingQueue<>(PIECES);
  private final ErrorTail errorTail = new ErrorTail();
  private int openChannels = 2;
  private long offset;
  private volatile boolean killed;
  private volatile boolean detached;
  private volatile @Nullable Exit exit;
  private volatile Duration duration = Duration.ZERO;

  private VerbExecution(
      Controller controller, ControllerProcess process, Command command, Duration timeout) {
    this.controller = controller;
    this.process = process;
    this.command = command;
    this.timeout = timeout;
  }

  static VerbExecution start(
      Controller controller, List<String> verb, Command command, Duration timeout) {
    ControllerProcess process = ControllerProcess.startStreaming(controller.command(), verb);
    VerbExecution execution = new VerbExecution(controller, process, command, timeout);
    if (!command.stdin()) {
      process.closeInput();
    }
    execution.pump(Channel.STDOUT, process.out());
    execution.pump(Channel.STDERR, process.err());
    Thread.ofVirtual().name("microvmctl-deadline").start(execution::killAtDeadline);
    return execution;
  }

  private void pump(Channel channel, InputStream from) {
    Thread.ofVirtual()
        .name("microvmctl-output")
        .start(
            () -> {
              try {
                copy(channel, from);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
  }

  private void copy(Channel channel, InputStream from) throws InterruptedException {
    byte[] buffer = new byte[PIECE];
    try {
      for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
        byte[] bytes = Arrays.copyOf(buffer, count);
        if (channel == Channel.STDERR) {
          errorTail.add(bytes);
        }
        if (!detached) {
          queue.put(new Piece(channel, Bytes.wrap(bytes)));
        }
      }
    } catch (IOException e) {
      // The process was killed.
    }
    queue.put(new Piece(channel, Bytes.of(new byte[0])));
  }

  /** The controller ends the command at its timeout; a controller that does not is ended here. */
  private void killAtDeadline() {
    if (!process.await(timeout.plus(Controller.GRACE))) {
      killed = true;
      process.close();
    }
  }

  @Override
  public ExecutionId id() {
    return id;
  }

  /** The contract does not tell it. */
  @Override
  public long pid() {
    return 0;
  }

  @Override
  public OutputStream stdin() {
    return command.stdin() ? process.in() : OutputStream.nullOutputStream();
  }

  @Override
  public Optional<Output> read() {
    while (openChannels > 0) {
      Piece piece;
      try {
        piece = queue.take();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw ControllerProcess.cancelled(e);
      }
      if (piece.bytes().size() > 0) {
        Output data = new Output.Data(piece.channel(), offset, Instant.now(), piece.bytes());
        offset = data.end();
        return Optional.of(data);
      }
      openChannels--;
    }
    return Optional.empty();
  }

  @Override
  public Exit await() {
    while (read().isPresent()) {
      // Unread output would block the command.
    }
    Exit known = exit;
    while (known == null && !process.await(timeout.plus(Controller.GRACE))) {
      process.close();
    }
    if (known == null) {
      duration = Duration.ofNanos(System.nanoTime() - started);
      known = ended();
      exit = known;
    }
    return known;
  }

  private Exit ended() {
    int code = process.exitCode();
    String error = errorTail.text();
    Optional<Fault> reported = ControllerErrors.reported(error);
    boolean timedOut =
        reported.map(Fault::code).equals(Optional.of(ErrorCode.EXEC_TIMEOUT))
            || (code == TIMED_OUT && duration.compareTo(timeout) >= 0);
    if (timedOut) {
      return new Exit.TimedOut(timeout);
    }
    if (killed) {
      return new Exit.Signaled(Signal.KILL);
    }
    if (code == ControllerErrors.OWN_FAILURE && reported.isPresent()) {
      throw reported.get().exception();
    }
    boolean disconnected =
        code == SSH_FAILED
            && controller.command().host().isPresent()
            && ControllerErrors.isFromSsh(error);
    if (disconnected) {
      SandboxException failure = controller.errors().of("exec", code, error);
      throw Fault.of(
              ErrorCode.OUTCOME_UNKNOWN,
              "the command may still run: " + failure.fault().problem(),
              "check the sandbox before you repeat it")
          .exception(failure);
    }
    return code > 128 && code <= 192
        ? new Exit.Signaled(new Signal(code - 128))
        : new Exit.Exited(code);
  }

  @Override
  public Optional<Exit> await(Duration time) {
    return exit != null || (process.await(time) && openChannels == 0)
        ? Optional.of(await())
        : Optional.empty();
  }

  @Override
  public Duration duration() {
    return exit == null ? Duration.ofNanos(System.nanoTime() - started) : duration;
  }

  @Override
  public void signal(Signal signal) {
    if (!signal.equals(Signal.KILL)) {
      throw Capability.unsupported(MicrovmctlDescription.NAME, BasicFeature.SIGNALS.displayName());
    }
    kill();
  }

  /** Ends the process of the controller, which ends the command. */
  @Override
  public void kill() {
    if (process.isAlive()) {
      killed = true;
      process.close();
    }
  }

  /** Discards further output, so that the command does not block. */
  @Override
  public void close() {
    detached = true;
    queue.clear();
  }
}
