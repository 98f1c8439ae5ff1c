package dev.isola.integrations.springai.sandbox;

import dev.isola.client.Execution;
import dev.isola.client.Exit;
import dev.isola.client.Output;
import dev.isola.client.error.IsolaException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A command in a sandbox as a {@link Process}, with its standard streams. */
final class SandboxProcess extends Process {
  /** As much as a pipe of Linux holds. */
  private static final int PIPE = 64 * 1024;

  private final Execution execution;
  private final BoundedPipe stdout = new BoundedPipe(PIPE);
  private final BoundedPipe stderr = new BoundedPipe(PIPE);
  private final CompletableFuture<Exit> exit = new CompletableFuture<>();

  SandboxProcess(Execution execution) {
    this.execution = execution;
    Thread.ofVirtual().name("isola-process-output").start(this::readOutput);
  }

  private void readOutput() {
    IOException failure = null;
    try (execution) {
      for (Optional<Output> piece = execution.read(); piece.isPresent(); piece = execution.read()) {
        if (piece.get() instanceof Output.Data data) {
          (data.channel() == Output.Channel.STDERR ? stderr : stdout).write(data.bytes());
        }
      }
      exit.complete(execution.await());
    } catch (IsolaException e) {
      failure = new IOException("the output could not be read: " + e.getMessage(), e);
      exit.complete(new Exit.Lost(e.problem().detail()));
    } catch (InterruptedException e) {
      failure = new IOException("reading the output was interrupted", e);
      exit.complete(new Exit.Lost("reading the output was interrupted"));
    } finally {
      stdout.end(failure);
      stderr.end(failure);
    }
  }

  @Override
  public OutputStream getOutputStream() {
    return execution.stdin();
  }

  @Override
  public InputStream getInputStream() {
    return stdout;
  }

  @Override
  public InputStream getErrorStream() {
    return stderr;
  }

  @Override
  public int waitFor() throws InterruptedException {
    try {
      return exit.get().shellCode();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // it never completes exceptionally
    }
  }

  @Override
  public boolean waitFor(long timeout, TimeUnit unit) throws InterruptedException {
    try {
      exit.get(timeout, unit);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // it never completes exceptionally
    }
  }

  @Override
  public int exitValue() {
    if (!exit.isDone()) {
      throw new IllegalThreadStateException("the process has not exited");
    }
    return exit.join().shellCode();
  }

  @Override
  public boolean isAlive() {
    return !exit.isDone();
  }

  @Override
  public void destroy() {
    signal("TERM");
  }

  /** Kills the process and all its descendants. */
  @Override
  public Process destroyForcibly() {
    signal("KILL");
    return this;
  }

  private void signal(String name) {
    if (!isAlive()) {
      return;
    }
    stdout.close(); // as for a local process; also, a full pipe must not delay the exit
    stderr.close();
    try {
      execution.signal(name);
    } catch (IsolaException e) {
      if (isAlive() && e.status() != 404 && e.status() != 410 && e.status() != 409) {
        throw new IllegalStateException("the process could not be signaled: " + e.getMessage(), e);
      }
    }
  }
}
