package dev.isola.provider.memory.process;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;

/** The standard input of a job, from outside. */
final class JobInput extends OutputStream {
  private final Job job;
  private volatile boolean closed;

  JobInput(Job job) {
    this.job = job;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    if (closed || job.exit().isPresent()) {
      throw new IOException("the command has ended or its input is closed");
    }
    try {
      if (job.tty().isPresent()) {
        job.tty().get().type(bytes, offset, length);
      } else if (job.input().broken()) {
        throw new IOException("the command does not read");
      } else {
        job.input().write(bytes, offset, length);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the command did not read");
    }
  }

  @Override
  public void close() {
    closed = true;
    if (job.tty().isEmpty()) {
      job.input().closeWriter();
    }
  }
}
