package dev.isola.engine.decorator;

import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Exit;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;

/** The observer of a sandbox that the engine uses itself. */
final class NoopSandboxObserver implements SandboxObserver {
  private static final Use USE = () -> {};

  @Override
  public Use begin() {
    return USE;
  }

  @Override
  public void started(Execution execution) {}

  @Override
  public void ran(ExecResult result) {}

  @Override
  public void commandFailed(SandboxException e) {}

  @Override
  public OutputStream input(OutputStream stdin) {
    return stdin;
  }

  @Override
  public void output(long bytes) {}

  @Override
  public void ended(ExecutionId execution, Exit exit, Duration duration) {}

  @Override
  public void detached(ExecutionId execution) {}

  @Override
  public SandboxObserver attached() {
    return this;
  }

  @Override
  public InputStream reading(FileTransfer kind, InputStream content, long begun) {
    return content;
  }

  @Override
  public void written(FileTransfer kind, long bytes, long begun) {}

  @Override
  public void transferFailed(FileTransfer kind, SandboxException e, long begun) {}

  @Override
  public void filesFailed(SandboxException e) {}
}
