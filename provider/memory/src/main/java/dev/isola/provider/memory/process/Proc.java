package dev.isola.provider.memory.process;

import dev.isola.provider.memory.file.Tree;
import dev.isola.spi.exec.Signal;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** One simulated process: a virtual thread with a pid, descriptors and signals. */
public final class Proc {
  private static final int STOP = 19;
  private static final int STOP_TYPED = 20;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Map<Integer, OpenFile> descriptors = new TreeMap<>();
  private final Signals signals = new Signals();
  private final Processes processes;
  private final Job job;
  private final long pid;
  private final long parent;
  private final long bornNanos = System.nanoTime();
  private long group;
  private String folder;
  private volatile Status status = Status.exited(0);
  private volatile int fatal;
  private volatile boolean stopped;
  private @Nullable Thread thread;

  Proc(Processes processes, Job job, long pid, @Nullable Proc parent, String folder) {
    this.processes = processes;
    this.job = job;
    this.pid = pid;
    this.folder = folder;
    this.parent = parent == null ? 1 : parent.pid;
    this.group = parent == null ? pid : parent.group;
    if (parent != null) {
      parent.descriptors.forEach((number, file) -> descriptors.put(number, file.retain()));
      signals.inherit(parent.signals);
    }
  }

  public long pid() {
    return pid;
  }

  public long parent() {
    return parent;
  }

  public Job job() {
    return job;
  }

  public Processes processes() {
    return processes;
  }

  public Tree tree() {
    return processes.tree();
  }

  public Signals signals() {
    return signals;
  }

  public String folder() {
    return folder;
  }

  public void folder(String path) {
    folder = path;
  }

  Duration age() {
    return Duration.ofNanos(System.nanoTime() - bornNanos);
  }

  long group() {
    return group;
  }

  /** Leaves the group of its parent, as {@code setsid} does. */
  public void ownGroup() {
    group = pid;
  }

  /** Starts another process that inherits descriptors, folder and ignored signals. */
  public Proc fork() {
    checkpoint();
    return processes.make(job, this, folder);
  }

  public void start(Body body) {
    Thread made = Thread.ofVirtual().name("memory pid " + pid).unstarted(() -> live(body));
    lock.lock();
    try {
      thread = made;
      if (fatal != 0) {
        made.interrupt();
      }
    } finally {
      lock.unlock();
    }
    made.start();
  }

  private void live(Body body) {
    Status end;
    try {
      checkpoint();
      end = Status.exited(body.run(this));
    } catch (Killed e) {
      end = Status.signaled(e.signal());
    } catch (BrokenPipe e) {
      end = Status.signaled(13);
    } catch (InterruptedException e) {
      end = Status.signaled(fatal == 0 ? Signal.KILL.number() : fatal);
    } catch (IOException | RuntimeException e) {
      end = Status.exited(1);
    }
    Thread.interrupted();
    status = end;
    closeAll();
    processes.ended(this);
    ended.countDown();
    job.ended(this);
  }

  private void closeAll() {
    lock.lock();
    try {
      descriptors.values().forEach(OpenFile::release);
      descriptors.clear();
    } finally {
      lock.unlock();
    }
  }

  /** Where a process notices that it was signalled, stopped or frozen. */
  public void checkpoint() {
    if (stopped || processes.frozen()) {
      waitWhileHeld();
    }
    if (fatal != 0) {
      throw new Killed(fatal);
    }
  }

  private void waitWhileHeld() {
    lock.lock();
    try {
      while ((stopped || processes.frozen()) && fatal != Signal.KILL.number()) {
        changed.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Looks again whether it is held. */
  void wake() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  public void signal(int number) {
    lock.lock();
    try {
      if (number == Signal.KILL.number()) {
        die(number);
      } else if (number == STOP || number == STOP_TYPED) {
        stopped = true;
      } else if (number == Signal.CONT.number()) {
        stopped = false;
        if (fatal != 0) {
          die(fatal);
        }
        changed.signalAll();
      } else if (number != 0) {
        switch (signals.receive(number)) {
          case DIE -> die(number);
          case HANDLE -> interruptWait();
          case NOTHING -> {}
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void die(int number) {
    fatal = fatal == 0 || number == Signal.KILL.number() ? number : fatal;
    changed.signalAll();
    if (thread != null && (!stopped || number == Signal.KILL.number())) {
      thread.interrupt();
    }
  }

  private void interruptWait() {
    if (signals.waiting() && thread != null) {
      thread.interrupt();
    }
  }

  public Status await() throws InterruptedException {
    ended.await();
    return status;
  }

  public boolean isAlive() {
    return ended.getCount() > 0;
  }

  boolean await(Duration patience) throws InterruptedException {
    return ended.await(patience.toNanos(), TimeUnit.NANOSECONDS);
  }

  Status status() {
    return status;
  }

  public Optional<OpenFile> descriptor(int number) {
    lock.lock();
    try {
      return Optional.ofNullable(descriptors.get(number));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Puts {@code file} at {@code number}; whatever was there is closed. Takes over the reference.
   */
  public void descriptor(int number, OpenFile file) {
    OpenFile before;
    lock.lock();
    try {
      before = descriptors.put(number, file);
    } finally {
      lock.unlock();
    }
    if (before != null) {
      before.release();
    }
  }

  public void closeDescriptor(int number) {
    OpenFile before;
    lock.lock();
    try {
      before = descriptors.remove(number);
    } finally {
      lock.unlock();
    }
    if (before != null) {
      before.release();
    }
  }

  public int read(int number, byte[] buffer) throws IOException, InterruptedException {
    checkpoint();
    int count = open(number).read(buffer, 0, buffer.length);
    checkpoint();
    return count;
  }

  public void write(int number, byte[] bytes, int length) throws IOException, InterruptedException {
    checkpoint();
    open(number).write(bytes, 0, length);
  }

  private OpenFile open(int number) throws IOException {
    return descriptor(number).orElseThrow(() -> new IOException("Bad file descriptor"));
  }
}
