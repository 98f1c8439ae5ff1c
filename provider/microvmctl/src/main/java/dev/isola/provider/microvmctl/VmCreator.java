package dev.isola.provider.microvmctl;

import dev.isola.codec.time.Deadline;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.SandboxInitializer;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Creates sandboxes: the record first, so that recovery finds what a crash leaves behind. */
final class VmCreator {
  private static final Duration KILL_TIMEOUT = Duration.ofSeconds(60);

  private final Controller controller;
  private final VmRecords records;
  private final ProviderContext context;
  private final AgentBoot agents;

  VmCreator(Controller controller, VmRecords records, ProviderContext context) {
    this.controller = controller;
    this.records = records;
    this.context = context;
    this.agents =
        new AgentBoot(controller, context.instance(), context.dataFolder().resolve("bin"));
  }

  /** Connects to a sandbox that exists. */
  VmSandbox open(VmRecord record) {
    return open(record, null);
  }

  private VmSandbox open(VmRecord record, @Nullable ControllerProcess first) {
    return record.agent()
        ? new VmSandbox.WithAgent(
            agents.sandbox(record, () -> records.find(record.id()).isPresent(), first))
        : new VmSandbox.ByVerbs(new VerbSandbox(controller, record));
  }

  VmSandbox create(SandboxSpec spec, boolean agent, Set<String> features) {
    Deadline deadline = Deadline.in(spec.startupTimeout());
    Supplier<Duration> remaining = () -> deadline.leftOrElseThrow(() -> timedOut(spec));
    VmRecord record = VmRecord.of(spec, context.instance(), context.clock().instant(), agent);
    if (records.find(spec.id()).isPresent()) { // of a create that was interrupted
      controller.kill(record.vm(), remaining.get());
    }
    records.write(record);
    boolean created = false;
    try {
      create(record, spec, features, remaining.get());
      created = true;
      ControllerProcess first = agent ? agents.boot(spec, record, remaining) : null;
      VmRecord ready = record.asReady(spec, context.clock().instant());
      VmSandbox sandbox = open(ready, first);
      try {
        initialize(sandbox, spec, remaining);
      } catch (RuntimeException e) {
        sandbox.close();
        throw e;
      }
      records.write(ready);
      return sandbox;
    } catch (SandboxException e) {
      throw undo(record, created, e);
    }
  }

  private void create(VmRecord record, SandboxSpec spec, Set<String> features, Duration timeout) {
    List<String> options =
        features.contains(ProbeResult.WORKSPACE)
            ? List.of("--workspace", spec.workspaceMount())
            : List.of();
    controller.create(
        record.vm(), Duration.between(record.createdAt(), record.deadline()), options, timeout);
  }

  private static void initialize(
      VmSandbox sandbox, SandboxSpec spec, Supplier<Duration> remaining) {
    switch (sandbox) {
      case VmSandbox.WithAgent one -> one.ping();
      case VmSandbox.ByVerbs(VerbSandbox one) -> one.prepare(spec, remaining.get());
    }
    SandboxInitializer.initialize(sandbox.sandbox(), spec, remaining);
  }

  /** Removes what a failed create left, even if the caller was interrupted. */
  private SandboxException undo(VmRecord record, boolean created, SandboxException why) {
    boolean interrupted = Thread.interrupted();
    try {
      if (!created && why.context().containsKey(ControllerProcess.NOT_STARTED)) {
        records.remove(record.id());
        return why;
      }
      controller.kill(record.vm(), KILL_TIMEOUT);
      records.remove(record.id());
      return why.sandbox().isPresent() ? why : why.fault().sandbox(record.id()).exception(why);
    } catch (SandboxException e) {
      e.addSuppressed(why);
      return Fault.of(
              ErrorCode.OUTCOME_UNKNOWN,
              "the create failed ("
                  + why.fault().problem()
                  + "), and the sandbox may exist: "
                  + e.fault().problem(),
              "the server destroys it when the command works again; its ttl ends it as well")
          .sandbox(record.id())
          .exception(e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static SandboxException timedOut(SandboxSpec spec) {
    return Fault.of(
            ErrorCode.DEADLINE_EXCEEDED,
            "the sandbox was not ready within " + spec.startupTimeout().toSeconds() + " s",
            "raise startupTimeout, or shorten init")
        .sandbox(spec.id())
        .exception();
  }
}
