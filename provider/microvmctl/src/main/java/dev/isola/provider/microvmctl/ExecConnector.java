package dev.isola.provider.microvmctl;

import dev.isola.link.AgentAbsentException;
import dev.isola.link.AgentChannel;
import dev.isola.link.AgentConnector;
import dev.isola.link.StreamAgentChannel;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Connects to the agent by an {@code exec} that joins its standard streams to the agent's socket. A
 * connection costs a process of the controller; commands over it do not.
 */
final class ExecConnector implements AgentConnector {
  private static final Duration END = Duration.ofSeconds(5);

  private final Controller controller;
  private final VmRecord record;
  private final BooleanSupplier exists;
  private final AtomicReference<@Nullable ControllerProcess> first;

  /**
   * Creates a connector.
   *
   * @param exists returns false if the sandbox was destroyed, perhaps by another process
   * @param first a connection that is open already; null if there is none
   */
  ExecConnector(
      Controller controller,
      VmRecord record,
      BooleanSupplier exists,
      @Nullable ControllerProcess first) {
    this.controller = controller;
    this.record = record;
    this.exists = exists;
    this.first = new AtomicReference<>(first);
  }

  @Override
  public AgentChannel open(Duration timeout) throws IOException {
    if (!record.remaining().isPositive()) {
      throw AgentAbsentException.permanent("its ttl has passed", null);
    }
    ControllerProcess booted = first.getAndSet(null);
    ControllerProcess process = booted == null ? start() : booted;
    AtomicBoolean begun = new AtomicBoolean();
    Thread deadline =
        Thread.ofVirtual()
            .name("microvmctl-connect")
            .start(() -> closeUnlessBegun(process, begun, timeout));
    try {
      PushbackInputStream in = new PushbackInputStream(process.out(), 1);
      int next = in.read(); // the agent sends first
      if (next < 0) {
        throw ended(process);
      }
      begun.set(true);
      in.unread(next);
      return new StreamAgentChannel(new Connection(in), process.in(), process::close);
    } finally {
      deadline.interrupt();
      if (!begun.get()) {
        process.close();
      }
    }
  }

  private ControllerProcess start() throws IOException {
    try {
      return ControllerProcess.start(
          controller.command(),
          Controller.execLine(
              record.vm(),
              record.remaining(),
              List.of(AgentBoot.program(record), "--bridge", AgentBoot.socket(record))));
    } catch (SandboxException e) {
      throw new IOException(e.fault().problem(), e);
    }
  }

  private static void closeUnlessBegun(
      ControllerProcess process, AtomicBoolean begun, Duration timeout) {
    try {
      Thread.sleep(timeout);
      if (!begun.get()) {
        process.close();
      }
    } catch (InterruptedException e) {
      // It has begun, or ended by itself.
    }
  }

  /** Tells an agent that is gone from a controller that cannot be reached. */
  private IOException ended(ControllerProcess process) {
    if (!process.await(END)) {
      return new IOException(controller.command().display() + " closed its output");
    }
    Optional<Fault> reported = ControllerErrors.reported(process.error());
    boolean gone =
        reported
            .map(Fault::code)
            .filter(
                code -> code == ErrorCode.SANDBOX_NOT_FOUND || code == ErrorCode.SANDBOX_DESTROYED)
            .isPresent();
    if (gone) {
      return AgentAbsentException.permanent(reported.get().problem(), null);
    }
    SandboxException failure = controller.errors().of("exec", process.exitCode(), process.error());
    boolean bridged = process.exitCode() == 1 && process.error().isBlank();
    return bridged
        ? new AgentAbsentException("no agent listens in the sandbox", failure)
        : new IOException(failure.fault().problem(), failure);
  }

  /** Tells the end of a connection from the end of its sandbox. */
  private final class Connection extends FilterInputStream {
    Connection(InputStream in) {
      super(in);
    }

    @Override
    public int read(byte[] buffer, int from, int length) throws IOException {
      int count = super.read(buffer, from, length);
      if (count < 0 && !exists.getAsBoolean()) {
        throw AgentAbsentException.permanent("it was destroyed", null);
      }
      return count;
    }
  }

  @Override
  public String toString() {
    return "exec in " + record.vm();
  }
}
