package dev.isola.provider.memory.process;

import dev.isola.provider.memory.fault.Faults;
import dev.isola.provider.memory.fault.PlantedFault;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Signal;
import dev.isola.spi.exec.TerminalSize;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A terminal: what is typed is echoed, edited by the line, and some of it becomes signals. */
public final class Tty {
  private static final int INTERRUPT = 3;
  private static final int END_OF_FILE = 4;
  private static final int BACKSPACE = 8;
  private static final int KILL_LINE = 21;
  private static final int QUIT = 28;
  private static final int DELETE = 127;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Job job;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private final Deque<byte[]> ready = new ArrayDeque<>();
  private TerminalSize size;
  private boolean echo = true;
  private boolean canonical = true;

  Tty(Job job, TerminalSize size) {
    this.job = job;
    this.size = size;
  }

  OpenFile open(Runnable onClosed) {
    return new OpenFile() {
      @Override
      public int read(byte[] buffer, int offset, int length) throws InterruptedException {
        return Tty.this.read(buffer, offset, length);
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws InterruptedException {
        print(bytes, offset, length);
      }

      @Override
      public Optional<Tty> terminal() {
        return Optional.of(Tty.this);
      }

      @Override
      protected void closed() {
        onClosed.run();
      }
    };
  }

  public TerminalSize size() {
    lock.lock();
    try {
      return size;
    } finally {
      lock.unlock();
    }
  }

  void resize(TerminalSize wanted, Faults faults) {
    if (faults.has(PlantedFault.RESIZE_IGNORED)) {
      return;
    }
    lock.lock();
    try {
      size = wanted;
    } finally {
      lock.unlock();
    }
    job.signal(new Signal(28));
  }

  /** Sets whether what is typed is shown, and whether it is handed on by the line. */
  public void mode(boolean shown, boolean byLine) {
    lock.lock();
    try {
      echo = shown;
      canonical = byLine;
    } finally {
      lock.unlock();
    }
  }

  public boolean echoes() {
    lock.lock();
    try {
      return echo;
    } finally {
      lock.unlock();
    }
  }

  public boolean canonical() {
    lock.lock();
    try {
      return canonical;
    } finally {
      lock.unlock();
    }
  }

  /** Takes what somebody typed. */
  void type(byte[] bytes, int offset, int length) throws InterruptedException {
    ByteArrayOutputStream shown = new ByteArrayOutputStream();
    for (int i = offset; i < offset + length; i++) {
      int c = bytes[i] & 0xff;
      if (canonical() && (c == INTERRUPT || c == QUIT)) {
        show(c, shown);
        forgetLine();
        job.signal(c == INTERRUPT ? Signal.INT : Signal.QUIT);
      } else {
        take(c == '\r' ? '\n' : c, shown);
      }
    }
    if (echoes()) {
      print(shown.toByteArray(), 0, shown.size());
    }
  }

  private void forgetLine() {
    lock.lock();
    try {
      line.reset();
    } finally {
      lock.unlock();
    }
  }

  private void take(int c, ByteArrayOutputStream shown) {
    lock.lock();
    try {
      if (!canonical) {
        ready.add(new byte[] {(byte) c});
      } else if (c == DELETE || c == BACKSPACE) {
        byte[] before = line.toByteArray();
        line.reset();
        line.write(before, 0, Math.max(0, before.length - 1));
        shown.writeBytes(before.length == 0 ? new byte[0] : new byte[] {8, ' ', 8});
      } else if (c == KILL_LINE) {
        line.reset();
      } else if (c == END_OF_FILE) {
        flushLine();
      } else {
        line.write(c);
        show(c, shown);
        if (c == '\n') {
          flushLine();
        }
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** An empty line without its end is the end of file. */
  private void flushLine() {
    ready.add(line.toByteArray());
    line.reset();
  }

  private static void show(int c, ByteArrayOutputStream shown) {
    if (c < 32 && c != '\n' && c != '\t') {
      shown.write('^');
      shown.write(c + 64);
    } else {
      shown.write(c);
    }
  }

  private int read(byte[] buffer, int offset, int length) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (ready.isEmpty()) {
        changed.await();
      }
      byte[] first = ready.poll();
      if (first.length == 0) {
        return -1;
      }
      int count = Math.min(length, first.length);
      System.arraycopy(first, 0, buffer, offset, count);
      if (count < first.length) {
        ready.push(Arrays.copyOfRange(first, count, first.length));
      }
      return count;
    } finally {
      lock.unlock();
    }
  }

  private void print(byte[] bytes, int offset, int length) throws InterruptedException {
    ByteArrayOutputStream cooked = new ByteArrayOutputStream(length + 16);
    for (int i = offset; i < offset + length; i++) {
      if (bytes[i] == '\n') {
        cooked.write('\r');
      }
      cooked.write(bytes[i]);
    }
    job.journal().write(Channel.TERMINAL, cooked.toByteArray(), 0, cooked.size());
  }
}
