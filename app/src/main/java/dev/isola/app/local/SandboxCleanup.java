package dev.isola.app.local;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.ErrorReport;
import dev.isola.engine.lease.SandboxLease;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import java.io.UncheckedIOException;
import java.time.Duration;

/**
 * Destroys a leased sandbox on close, or earlier if the process is terminated (SIGINT, SIGTERM,
 * SIGHUP). The JVM then exits with 128 plus the signal number.
 */
final class SandboxCleanup implements AutoCloseable {
  private static final DestroyOptions IMMEDIATELY = new DestroyOptions(true, Duration.ofSeconds(5));
  private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(6);

  private final CliEnvironment environment;
  private final Provider provider;
  private final SandboxLease lease;
  private final Thread hook = new Thread(this::interrupt, "isola-end");
  private volatile boolean interrupted;

  private SandboxCleanup(CliEnvironment environment, Provider provider, SandboxLease lease) {
    this.environment = environment;
    this.provider = provider;
    this.lease = lease;
  }

  static SandboxCleanup register(
      CliEnvironment environment, Provider provider, SandboxLease lease) {
    SandboxCleanup end = new SandboxCleanup(environment, provider, lease);
    Runtime.getRuntime().addShutdownHook(end.hook);
    return end;
  }

  /** Returns true once the process is being terminated. */
  boolean interrupted() {
    return interrupted;
  }

  private void interrupt() {
    interrupted = true;
    // On a separate thread, so that a hanging backend does not block the exit. A sandbox that is
    // left behind ends by itself, because it does not outlive the connection to it.
    Thread destroying = Thread.ofPlatform().daemon().start(this::destroyQuietly);
    try {
      destroying.join(SHUTDOWN_TIMEOUT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void destroyQuietly() {
    try {
      provider.destroy(lease.id(), IMMEDIATELY);
      lease.close();
    } catch (SandboxException | UncheckedIOException e) {
      // The lease expires with this process; the next run or server removes the sandbox.
    }
  }

  /** Destroys the sandbox. A failure is reported and does not change the exit code. */
  @Override
  public void close() {
    if (interrupted) {
      return; // the shutdown hook destroys it
    }
    try {
      provider.destroy(lease.id(), DestroyOptions.FORCE);
      lease.close();
    } catch (SandboxException | UncheckedIOException e) {
      ErrorReport.writeLine(
          environment, "sandbox " + lease.id() + " could not be destroyed: " + e.getMessage());
    }
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is already shutting down.
    }
  }
}
