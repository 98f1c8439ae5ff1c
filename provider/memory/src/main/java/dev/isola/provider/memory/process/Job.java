package dev.isola.provider.memory.process;

import dev.isola.provider.memory.fault.Faults;
import dev.isola.provider.memory.fault.PlantedFault;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.ExecutionInfo;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.exec.TerminalSize;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One execution: a leading process, whatever descends from it, and what they wrote. */
public final class Job {
  /**
   * How long the output of something the command left behind may pause before it is waited for no
   * longer.
   */
  private static final Duration PAUSE = Duration.ofMillis(100);

  /** How long it is waited for in all; time in which a reader holds it back does not count. */
  private static final Duration STRAGGLERS = Duration.ofSeconds(2);

  private static final Duration DEATH = Duration.ofSeconds(2);

  private final ExecutionId id;
  private final Command command;
  private final Processes processes;
  private final Faults faults;
  private final Journal journal;
  private final Pipe input = new Pipe();
  private final CountDownLatch writers;
  private final Instant startedAt = Instant.now();
  private final long startedNanos = System.nanoTime();
  private final @Nullable Tty tty;
  private final Proc leader;
  private volatile long endedNanos;
  private volatile boolean dying;
  private volatile @Nullable Exit forced;
  private volatile @Nullable Exit exit;
  private @Nullable Future<?> timer;

  public Job(
      ExecutionId id,
      Command command,
      String folder,
      Optional<TerminalSize> terminal,
      Processes processes,
      Faults faults) {
    this.id = id;
    this.command = command;
    this.processes = processes;
    this.faults = faults;
    this.journal = new Journal(faults);
    this.tty = terminal.map(size -> new Tty(this, size)).orElse(null);
    this.writers = new CountDownLatch(tty == null ? 2 : 1);
    this.leader = processes.make(this, null, folder);
    giveDescriptors();
  }

  private void giveDescriptors() {
    if (tty != null) {
      OpenFile file = tty.open(writers::countDown);
      leader.descriptor(0, file);
      leader.descriptor(1, file.retain());
      leader.descriptor(2, file.retain());
      return;
    }
    leader.descriptor(0, input.reader());
    if (!command.stdin()) {
      input.closeWriter();
    }
    leader.descriptor(1, new JournalFile(journal, Channel.STDOUT, writers::countDown));
    leader.descriptor(2, new JournalFile(journal, Channel.STDERR, writers::countDown));
  }

  /** Starts the leading process. */
  public void start(Body body, Optional<Duration> timeout) {
    timeout.ifPresent(limit -> timer = Timers.after(limit, () -> timeOut(limit)));
    leader.start(body);
  }

  public ExecutionId id() {
    return id;
  }

  public Proc leader() {
    return leader;
  }

  Command command() {
    return command;
  }

  Journal journal() {
    return journal;
  }

  public Optional<Tty> tty() {
    return Optional.ofNullable(tty);
  }

  Pipe input() {
    return input;
  }

  boolean dying() {
    return dying;
  }

  public Optional<Exit> exit() {
    return Optional.ofNullable(exit);
  }

  long keptBytes() {
    return journal.end() - journal.first();
  }

  Duration duration() {
    return Duration.ofNanos((endedNanos == 0 ? System.nanoTime() : endedNanos) - startedNanos);
  }

  /** Called by every process of this job once it has ended; the leader's end is the job's. */
  void ended(Proc process) {
    if (process != leader) {
      return;
    }
    endedNanos = System.nanoTime();
    if (timer != null) {
      timer.cancel(false);
    }
    input.closeReader();
    awaitStragglers();
    if (dying) {
      awaitDeath();
    }
    Exit known = forced;
    exit = known == null ? exitOf(process.status()) : known;
    journal.close();
  }

  private Exit exitOf(Status status) {
    if (faults.has(PlantedFault.EXIT_CODE_LOST)) {
      return new Exit.Exited(0);
    }
    return status.signal() == 0
        ? new Exit.Exited(status.code())
        : new Exit.Signaled(new Signal(status.signal()));
  }

  private void timeOut(Duration limit) {
    if (exit == null) {
      forced = new Exit.TimedOut(limit);
      if (faults.has(PlantedFault.TIMEOUT_SPARES_GRANDCHILDREN)) {
        leader.signal(Signal.KILL.number());
      } else {
        kill();
      }
    }
  }

  /** Signals the leader's group. */
  void signal(Signal signal) {
    processes.of(this).stream()
        .filter(process -> process.group() == leader.pid())
        .forEach(process -> process.signal(signal.number()));
  }

  /** Kills everything that descends from the leader; returns when it is gone. */
  void kill() {
    dying = true;
    processes.of(this).forEach(process -> process.signal(Signal.KILL.number()));
    awaitDeath();
  }

  /** The sandbox goes away under it. */
  public void lose(String why) {
    if (exit == null) {
      forced = new Exit.Lost(why);
      kill();
    }
  }

  private void awaitDeath() {
    boolean interrupted = false;
    long deadline = System.nanoTime() + DEATH.toNanos();
    for (Proc process : processes.of(this)) {
      try {
        process.await(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void awaitStragglers() {
    long left = STRAGGLERS.toNanos();
    long before = journal.end();
    try {
      while (left > 0 && !dying && !writers.await(PAUSE.toNanos(), TimeUnit.NANOSECONDS)) {
        long end = journal.end();
        boolean held = journal.holdsBack();
        if (end == before && !held) {
          return;
        }
        left -= end == before ? 0 : PAUSE.toNanos();
        before = end;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  public ExecutionInfo info() {
    return new ExecutionInfo(
        id,
        leader.pid(),
        command.tag(),
        command.words(),
        command.cwd(),
        command.user(),
        startedAt,
        tty().map(Tty::size),
        journal.first(),
        journal.end(),
        tty != null || !input.broken(),
        exit(),
        exit().map(end -> startedAt.plus(duration())));
  }

  /** Returns the words that were started, for a list of processes. */
  public List<String> words() {
    return command.words();
  }
}
