package dev.isola.provider.memory.process;

import dev.isola.provider.memory.file.Tree;
import dev.isola.spi.exec.Signal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** All processes of one sandbox that are alive. */
public final class Processes {
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Long, Proc> alive = new TreeMap<>();
  private final AtomicLong processorNanos = new AtomicLong();
  private final Tree tree;
  private final int most;
  private long lastPid = 1;
  private volatile boolean frozen;
  private boolean closed;

  /**
   * @param most how many may be alive at once
   */
  public Processes(Tree tree, int most) {
    this.tree = tree;
    this.most = most;
  }

  Tree tree() {
    return tree;
  }

  Proc make(Job job, @Nullable Proc parent, String folder) {
    lock.lock();
    try {
      if (closed || job.dying()) {
        throw new Killed(Signal.KILL.number());
      }
      if (alive.size() >= most) {
        throw new TooManyProcesses();
      }
      Proc made = new Proc(this, job, ++lastPid, parent, folder);
      alive.put(made.pid(), made);
      return made;
    } finally {
      lock.unlock();
    }
  }

  void ended(Proc process) {
    lock.lock();
    try {
      alive.remove(process.pid());
    } finally {
      lock.unlock();
    }
    processorNanos.addAndGet(process.age().toNanos());
  }

  /** Returns how long processes lived: a simulation has no other measure of what they used. */
  public Duration processorTime() {
    return all().stream()
        .map(Proc::age)
        .reduce(Duration.ofNanos(processorNanos.get()), Duration::plus);
  }

  public Optional<Proc> find(long pid) {
    lock.lock();
    try {
      return Optional.ofNullable(alive.get(pid));
    } finally {
      lock.unlock();
    }
  }

  /** Returns every process, oldest first. */
  public List<Proc> all() {
    lock.lock();
    try {
      return List.copyOf(alive.values());
    } finally {
      lock.unlock();
    }
  }

  List<Proc> of(Job job) {
    return all().stream().filter(process -> process.job() == job).toList();
  }

  /** Holds every process at its next step, or lets them go on. */
  public void freeze(boolean now) {
    frozen = now;
    all().forEach(Proc::wake);
  }

  boolean frozen() {
    return frozen;
  }

  /** Ends everything for good. */
  public void close() {
    lock.lock();
    try {
      closed = true;
    } finally {
      lock.unlock();
    }
    all().forEach(process -> process.signal(Signal.KILL.number()));
  }
}
