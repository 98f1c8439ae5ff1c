package dev.isola.engine.decorator;

import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Exit;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;

/**
 * Is told what clients do with one sandbox. Its methods are called on the thread of the client,
 * some of them for every chunk of output: they never block and never throw.
 */
public interface SandboxObserver {
  /** Observes nothing: the engine itself uses the sandbox. */
  SandboxObserver NONE = new NoopSandboxObserver();

  /** A use of the sandbox: a call, or an open execution, connection or stream. */
  interface Use extends AutoCloseable {
    /** Ends the use. Repeated calls do nothing. */
    @Override
    void close();
  }

  /** Called when a client begins to use the sandbox. */
  Use begin();

  /** Called when a command was started whose output the client reads. */
  void started(Execution execution);

  /** Called when a command was started and has ended in one call. */
  void ran(ExecResult result);

  /** Called when a command could not be started, read or awaited. */
  void commandFailed(SandboxException e);

  /** Returns the standard input of a command, as the client is to write it. */
  OutputStream input(OutputStream stdin);

  /** Called for each chunk of output that a client has read. */
  void output(long bytes);

  /** Called once by each handle that has observed the end of its execution. */
  void ended(ExecutionId execution, Exit exit, Duration duration);

  /** Called when a client has closed its handle of an execution, which may go on. */
  void detached(ExecutionId execution);

  /**
   * Returns the observer of executions that clients attach to. They were reported when they
   * started.
   */
  SandboxObserver attached();

  /**
   * Returns the content of a file or tree, as the client is to read it; its close ends the use.
   *
   * @param begun when the transfer began, as of {@link System#nanoTime()}
   */
  InputStream reading(FileTransfer kind, InputStream content, long begun);

  /** Called when a file or tree was written. */
  void written(FileTransfer kind, long bytes, long begun);

  /** Called when a transfer could not begin, or content could not be written. */
  void transferFailed(FileTransfer kind, SandboxException e, long begun);

  /** Called when another operation on files failed. */
  void filesFailed(SandboxException e);
}
