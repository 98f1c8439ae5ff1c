package dev.isola.provider.memory.process;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What a descriptor refers to. Descriptors are copied by fork, so it counts them and ends with the
 * last one.
 */
public abstract class OpenFile {
  private final AtomicInteger references = new AtomicInteger(1);

  /** Reads; -1 at the end. Blocks while there is nothing. */
  public int read(byte[] buffer, int offset, int length) throws IOException, InterruptedException {
    throw new IOException("Bad file descriptor");
  }

  public void write(byte[] bytes, int offset, int length) throws IOException, InterruptedException {
    throw new IOException("Bad file descriptor");
  }

  /** Returns the terminal it is, if it is one. */
  public Optional<Tty> terminal() {
    return Optional.empty();
  }

  public final OpenFile retain() {
    references.incrementAndGet();
    return this;
  }

  public final void release() {
    if (references.decrementAndGet() == 0) {
      closed();
    }
  }

  /** Called once nobody has it open any more. */
  protected void closed() {}
}
