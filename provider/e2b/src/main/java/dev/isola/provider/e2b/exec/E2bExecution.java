package dev.isola.provider.e2b.exec;

import dev.isola.provider.e2b.rpc.RpcError;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.Conflict;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Output;
import dev.isola.spi.exec.Signal;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A command run by envd. A dedicated thread reads envd's events into a short queue. If the caller
 * does not read from the queue, the thread stops reading the connection, which blocks the command.
 */
public class E2bExecution implements Execution {
  private static final int QUEUE_SIZE = 32;
  private static final Duration KILL_TIMEOUT = Duration.ofSeconds(20);
  private static final Duration POLL_INTERVAL = Duration.ofMillis(100);

  /** The parameters of a started command. */
  record Start(
      ExecutionId id,
      long pid,
      Optional<String> user,
      Optional<Duration> timeout,
      boolean stdin,
      boolean terminal) {}

  /** An element of the queue. */
  private sealed interface Item {
    record Chunk(Output output) implements Item {}

    record End() implements Item {}
  }

  private final SandboxContext context;
  private final ScriptRunner shell;
  private final Start start;
  private final OutputStream stdin;
  private final BlockingQueue<Item> queue = new ArrayBlockingQueue<>(QUEUE_SIZE);
  private final CountDownLatch ended = new CountDownLatch(1);
  private final CountDownLatch swept = new CountDownLatch(1);
  private final long startedNanos = System.nanoTime();
  private final List<Item> first;
  private volatile ProcessStream stream;
  private volatile long endedNanos;
  private volatile long offset;
  private volatile boolean timedOut;
  private volatile boolean closed;
  private volatile boolean taken;
  private volatile @Nullable Exit exit;
  private volatile @Nullable SandboxException failure;

  E2bExecution(
      SandboxContext context,
      ScriptRunner shell,
      ProcessStream stream,
      Start start,
      List<ProcessStream.Event.Data> first) {
    this.context = context;
    this.shell = shell;
    this.stream = stream;
    this.start = start;
    this.stdin = new ProcessInput(context, start, this::isOver);
    this.first = first.stream().map(data -> item(data.channel(), data.bytes())).toList();
    Thread.ofVirtual().name("e2b-output").start(this::follow);
    start
        .timeout()
        .ifPresent(time -> Thread.ofVirtual().name("e2b-timeout").start(() -> limit(time)));
  }

  final boolean isOver() {
    return ended.getCount() == 0;
  }

  private Item item(Channel channel, Bytes bytes) {
    Output.Data data = new Output.Data(channel, offset, Instant.now(), bytes);
    offset = data.end();
    return new Item.Chunk(data);
  }

  private void follow() {
    try {
      for (Item item : first) {
        queue.put(item);
      }
      while (exit == null && failure == null && !closed) {
        step();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // This thread is never interrupted.
    } finally {
      stream.close();
    }
  }

  private void step() throws InterruptedException {
    try {
      switch (stream.next()) {
        case ProcessStream.Event.Started started -> {}
        case ProcessStream.Event.Data(Channel channel, Bytes bytes) ->
            queue.put(item(channel, bytes));
        case ProcessStream.Event.Ended(Exit how) -> end(how, null);
      }
    } catch (RpcError e) {
      boolean late = e.code().equals("deadline_exceeded") && start.timeout().isPresent();
      timedOut |= late;
      end(late ? new Exit.Signaled(Signal.KILL) : null, late ? null : refused(e));
    } catch (IOException e) {
      if (!closed) {
        reconnect(e);
      }
    }
  }

  private SandboxException refused(RpcError e) {
    return context
        .fault(
            ErrorCode.OUTCOME_UNKNOWN,
            "the connection to the command was lost: " + e.detail(),
            "start the command again")
        .exception(e);
  }

  /** Reconnects to the process after a pause has cut the stream. */
  private void reconnect(IOException e) throws InterruptedException {
    SandboxException why = CommandStarter.disconnected(context, e);
    while (why instanceof Conflict && !closed) {
      Thread.sleep(POLL_INTERVAL);
      try {
        context.liveness().requireRunning();
        stream = ProcessStream.connect(context.envd(), start.pid());
        return;
      } catch (RpcError gone) {
        why = refused(gone);
      } catch (SandboxException still) {
        why = still;
      }
    }
    if (why instanceof Gone) {
      end(new Exit.Lost(why.fault().problem()), null);
    } else {
      end(null, why);
    }
  }

  /**
   * Ends the execution. A command that timed out has ended only when all its processes are gone.
   */
  private void end(@Nullable Exit how, @Nullable SandboxException why) throws InterruptedException {
    if (timedOut && how != null && !(how instanceof Exit.Lost)) {
      ended.countDown();
      swept.await(KILL_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
      exit = new Exit.TimedOut(start.timeout().orElse(Duration.ZERO));
    } else if (how != null) {
      exit = how;
    } else {
      failure = why;
    }
    endedNanos = System.nanoTime();
    ended.countDown();
    queue.put(new Item.End());
  }

  private void limit(Duration time) {
    try {
      if (!ended.await(time.toMillis(), TimeUnit.MILLISECONDS)) {
        timedOut = true;
        kill();
      }
    } catch (SandboxException e) {
      // envd's own timeout ends it a little later, and the stream reports that
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // This thread is never interrupted.
    } finally {
      swept.countDown();
    }
  }

  @Override
  public ExecutionId id() {
    return start.id();
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
    Optional<Output> output = take(Long.MAX_VALUE).flatMap(E2bExecution::output);
    if (output.isEmpty() && exit instanceof Exit.Lost(String why)) {
      throw context.fault(ErrorCode.OUTCOME_UNKNOWN, why, "start the command again").exception();
    }
    return output;
  }

  @Override
  public Exit await() {
    return awaited(Long.MAX_VALUE).orElseThrow();
  }

  @Override
  public Optional<Exit> await(Duration maxWait) {
    return awaited(Math.max(1, maxWait.toNanos()));
  }

  private Optional<Exit> awaited(long nanos) {
    long until = System.nanoTime() + nanos;
    while (!taken) {
      long left = nanos == Long.MAX_VALUE ? nanos : until - System.nanoTime();
      if (left <= 0 || take(left).isEmpty()) {
        return Optional.empty();
      }
    }
    SandboxException why = failure;
    if (why != null) {
      throw why;
    }
    return Optional.ofNullable(exit);
  }

  /** Takes the next item; empty after a timeout. */
  private Optional<Item> take(long nanos) {
    if (!taken) {
      try {
        Item item =
            nanos == Long.MAX_VALUE ? queue.take() : queue.poll(nanos, TimeUnit.NANOSECONDS);
        if (!(item instanceof Item.End)) {
          return Optional.ofNullable(item);
        }
        taken = true;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw context
            .fault(ErrorCode.CANCELLED, "waiting for the command was interrupted", "wait again")
            .exception();
      }
    }
    SandboxException why = failure;
    if (why != null) {
      throw why;
    }
    return Optional.of(new Item.End());
  }

  private static Optional<Output> output(Item item) {
    return item instanceof Item.Chunk(Output output) ? Optional.of(output) : Optional.empty();
  }

  @Override
  public Duration duration() {
    long end = isOver() && endedNanos != 0 ? endedNanos : System.nanoTime();
    return Duration.ofNanos(Math.max(1, end - startedNanos));
  }

  @Override
  public void signal(Signal signal) {
    if (!isOver()) {
      shell.runAsRoot(
          ExecScripts.SIGNAL, Integer.toString(signal.number()), Long.toString(start.pid()));
    }
  }

  /**
   * Kills the command even if the caller is interrupted. The script runs as the command's user,
   * which can read the environment of its processes where root may not, and as root, which can kill
   * processes that changed their user.
   */
  @Override
  public void kill() {
    Uninterruptible.run(
        KILL_TIMEOUT,
        () -> {
          List<String> args =
              List.of(
                  ExecScripts.MARK + "=" + start.id().value(),
                  isOver() ? "0" : Long.toString(start.pid()));
          shell.run(ExecScripts.KILL, start.user(), args);
          shell.runAsRoot(ExecScripts.KILL, args.getFirst(), isOver() ? "0" : args.getLast());
        });
  }

  @Override
  public void close() {
    closed = true;
    stream.close();
    if (!isOver()) {
      queue.clear(); // Unblocks the reader thread.
    }
  }
}
