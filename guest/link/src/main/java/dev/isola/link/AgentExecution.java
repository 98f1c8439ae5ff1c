package dev.isola.link;

import dev.isola.codec.time.Deadline;
import dev.isola.spi.Bytes;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.OutcomeUnknown;
import dev.isola.spi.error.ProviderUnavailable;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.Signal;
import java.io.OutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * An execution run by the agent. When the connection drops while a caller reads or waits, it
 * reattaches at the same offset.
 *
 * <p>{@link #await()} returns {@link Exit.Lost} only when the exit can never be known: the sandbox
 * is gone, or the agent no longer has the execution. When the agent is merely unreachable, {@link
 * #read()} and {@link #await()} throw {@link dev.isola.spi.error.OutcomeUnknown} and may be called
 * again. An interrupted {@code read} or {@code await} leaves the handle unchanged.
 */
class AgentExecution implements Execution {
  static final int WINDOW = 1024 * 1024;

  /** How long after the command's timeout its end may arrive before the agent counts as broken. */
  private static final Duration GRACE = Duration.ofSeconds(30);

  /**
   * Start of an execution.
   *
   * @param startedNanos on this machine's {@link System#nanoTime()}
   * @param timeout of the command, if known here
   * @param stdin whether it has an open standard input
   */
  record StartInfo(
      long execution, long pid, long startedNanos, Optional<Duration> timeout, boolean stdin) {}

  private final AgentClient client;
  private final StartInfo start;
  private final ReentrantLock attaching = new ReentrantLock();
  private final OutputStream stdin;
  private volatile LinkStream stream;
  private volatile long position;
  private volatile Set<LimitKind> limitsMet = Set.of();
  private volatile @Nullable Exit exit;
  private volatile long durationNanos;
  private volatile boolean closed;

  AgentExecution(AgentClient client, LinkStream stream, StartInfo start, long position) {
    this.client = client;
    this.stream = stream;
    this.start = start;
    this.position = position;
    this.stdin = new ExecutionStdin(this::inputStream, start.stdin());
  }

  @Override
  public ExecutionId id() {
    return new ExecutionId(Long.toString(start.execution()));
  }

  @Override
  public long pid() {
    return start.pid();
  }

  @Override
  public OutputStream stdin() {
    return stdin;
  }

  @Override
  public Optional<Output> read() {
    while (exit == null) {
      Frame frame = nextFrame(LinkStream.FOREVER);
      Output output = frame == null ? null : take(frame);
      if (output != null) {
        return Optional.of(output);
      }
    }
    if (exit instanceof Exit.Lost(String why)) {
      throw unknown(why, null);
    }
    return Optional.empty();
  }

  @Override
  public Exit await() {
    while (exit == null) {
      Frame frame = nextFrame(LinkStream.FOREVER);
      if (frame != null) {
        take(frame);
      }
    }
    return exit;
  }

  @Override
  public Optional<Exit> await(Duration timeout) {
    Deadline deadline = Deadline.in(timeout);
    boolean inTime = true;
    while (exit == null && inTime) {
      Frame frame = nextFrame(deadline.left());
      if (frame != null) {
        take(frame);
      }
      inTime = frame != null || !deadline.over();
    }
    return Optional.ofNullable(exit);
  }

  @Override
  public Set<LimitKind> limitsMet() {
    return limitsMet;
  }

  @Override
  public Duration duration() {
    return Duration.ofNanos(
        exit != null && durationNanos > 0
            ? durationNanos
            : Math.max(0, System.nanoTime() - start.startedNanos()));
  }

  @Override
  public void signal(Signal signal) {
    if (exit == null) {
      send(signal, Wire.SCOPE_GROUP);
    }
  }

  @Override
  public void kill() {
    send(Signal.KILL, Wire.SCOPE_TREE);
  }

  @Override
  public void close() {
    closed = true;
    stream.cancel();
  }

  /** Returns the agent's number of this execution. */
  final long number() {
    return start.execution();
  }

  final AgentClient client() {
    return client;
  }

  final boolean hasEnded() {
    return exit != null;
  }

  /**
   * Returns the stream for standard input. A terminal reattaches for it; a pipe only if no input
   * can have been lost.
   */
  LinkStream inputStream() {
    if (!stream.connection().isHeld()) {
      return stream;
    }
    client.awaitRelease();
    return ensureAttached();
  }

  /** Returns a live stream, reattaching if the previous one was lost. */
  final LinkStream ensureAttached() {
    LinkStream now = stream;
    CloseReason reason = now.closeReason();
    if (reason != null && exit == null) {
      reattach(now, reason, reason.exception(client.id(), false));
    }
    return stream;
  }

  /**
   * Waits for a frame. Returns null after {@code timeout}, or when the execution is lost (see
   * {@link #exit}).
   */
  private @Nullable Frame nextFrame(Duration timeout) {
    while (true) {
      LinkStream now = stream;
      try {
        Duration wait = boundedWait(timeout);
        Frame frame = now.next(wait);
        if (frame == null && timeout.isZero() && client.state() == SandboxState.RUNNING) {
          throw unknown("the agent did not end the command at its timeout", null);
        }
        return frame;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw CloseReason.cancelled(client.id(), "waiting for the command");
      } catch (SandboxException e) {
        CloseReason reason = now.closeReason();
        if (reason == null) {
          throw e;
        }
        reattach(now, reason, e);
        if (exit != null) {
          return null;
        }
      }
    }
  }

  /**
   * Bounds an unlimited wait: the agent enforces the timeout, this only detects that it does not.
   */
  private Duration boundedWait(Duration timeout) {
    if (!timeout.isZero() || start.timeout().isEmpty()) {
      return timeout;
    }
    long end = start.startedNanos() + start.timeout().get().toNanos() - System.nanoTime();
    return GRACE.plusNanos(Math.max(0, end));
  }

  /** Processes a frame. Returns output, or null for any other frame. */
  private @Nullable Output take(Frame frame) {
    LinkStream now = stream;
    try {
      return switch (frame.type()) {
        case Wire.OUTPUT -> data(frame);
        case Wire.GAP -> gap(frame);
        case Wire.END -> {
          recordExit(WireFields.parse(frame.payload()));
          yield null;
        }
        case Wire.ERROR -> {
          failed(now.error(frame));
          yield null;
        }
        default -> throw new ProtocolViolation("a frame of type " + frame.type());
      };
    } catch (ProtocolViolation e) {
      throw now.protocolViolation(e.getMessage());
    }
  }

  private Output data(Frame frame) {
    Channel channel =
        switch (frame.channel()) {
          case Wire.CHANNEL_STDOUT -> Channel.STDOUT;
          case Wire.CHANNEL_STDERR -> Channel.STDERR;
          case Wire.CHANNEL_TERMINAL -> Channel.TERMINAL;
          default -> throw new ProtocolViolation("output channel " + frame.channel());
        };
    advance(frame.offset(), frame.payload().length);
    Instant at = Timestamps.instant(frame.timeNs());
    return new Output.Data(channel, frame.offset(), at, Bytes.wrap(frame.payload()));
  }

  private Output gap(Frame frame) {
    long offset = Wire.getLong(frame.payload(), 0);
    long lostBytes = Wire.getLong(frame.payload(), 8);
    advance(offset, lostBytes);
    return new Output.Gap(offset, lostBytes);
  }

  private void advance(long offset, long count) {
    if (offset < position || count <= 0 || offset + count < 0) {
      throw new ProtocolViolation("output offset is not increasing: " + offset + "+" + count);
    }
    position = offset + count;
  }

  private void recordExit(WireFields fields) {
    durationNanos = fields.count(FieldTag.DURATION_NS, 0);
    limitsMet = ExitFields.limitsMet(fields);
    exit = ExitFields.exit(fields, start.timeout());
  }

  /** Records an exit that the host observed or that is unknown. */
  private void endUnreported(Exit observed) {
    if (observed instanceof Exit.OutOfMemory) {
      limitsMet = Set.of(LimitKind.MEMORY);
    }
    exit = observed;
  }

  private void failed(RemoteError error) {
    if (error.code() == Wire.E_NO_SUCH_EXECUTION) {
      exit = new Exit.Lost(error.message());
    } else if (error.code() == Wire.E_CANCELLED && !closed) {
      throw unknown("the agent detached from the execution: " + error.message(), null);
    } else {
      throw error.exception(client.id());
    }
  }

  private void reattach(LinkStream lostStream, CloseReason reason, SandboxException cause) {
    attaching.lock();
    try {
      if (stream != lostStream || exit != null) {
        return;
      }
      if (reason.kind() == CloseReason.Kind.GONE) {
        endUnreported(client.exitWhenGone(reason.message()));
        return;
      }
      if (!reason.isRecoverable() || closed) {
        throw unknown(reason.message(), cause);
      }
      stream = AttachRequest.open(client, start.execution(), position);
    } catch (Gone e) {
      endUnreported(client.exitWhenGone(e.fault().problem()));
    } catch (NotFound e) {
      exit = new Exit.Lost("the agent no longer has the execution");
    } catch (ProviderUnavailable e) {
      throw unknown(e.fault().problem(), e);
    } finally {
      attaching.unlock();
    }
  }

  private SandboxException unknown(String why, @Nullable Throwable cause) {
    return Fault.of(
            ErrorCode.OUTCOME_UNKNOWN,
            "the exit of the command is unknown: " + why,
            "list the executions; the command may still run or may have ended")
        .sandbox(client.id())
        .with("execution", id().value())
        .exception(cause);
  }

  private void send(Signal signal, int scope) {
    WireFieldsBuilder request =
        new WireFieldsBuilder(AgentOperation.SIGNAL)
            .add(FieldTag.EXECUTION, start.execution())
            .add(FieldTag.SIGNAL, signal.number())
            .add(FieldTag.SCOPE, scope);
    try {
      if (scope == Wire.SCOPE_TREE) {
        killTree(request);
      } else {
        client.call(AgentOperation.SIGNAL, request, client.timeouts().responseTimeout());
      }
    } catch (Gone | NotFound nothingLeft) {
      // Nothing is left to signal.
    }
  }

  /** Killing is idempotent, so a lost reply is retried once. */
  private void killTree(WireFieldsBuilder request) {
    try {
      client.callUninterrupted(AgentOperation.SIGNAL, request, client.timeouts().responseTimeout());
    } catch (OutcomeUnknown replyLost) {
      client.callUninterrupted(AgentOperation.SIGNAL, request, client.timeouts().responseTimeout());
    }
  }
}
