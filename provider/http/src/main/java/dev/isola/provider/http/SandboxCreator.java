package dev.isola.provider.http;

import dev.isola.codec.time.Deadline;
import dev.isola.document.SpecDocument;
import dev.isola.link.InstallationKey;
import dev.isola.provider.http.BackendInfo.Level;
import dev.isola.spi.InstanceId;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.SandboxInitializer;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Creates sandboxes at the backend, and removes what a failed create left there. */
record SandboxCreator(
    Backend backend, InstanceId instance, InstallationKey key, SandboxOpener opener) {
  OpenSandbox create(
      SandboxSpec spec,
      Optional<String> forkPoint,
      BackendInfo info,
      RequestedCapabilities capabilities) {
    Deadline deadline = Deadline.in(spec.startupTimeout());
    Supplier<Duration> remaining = () -> deadline.leftOrElseThrow(() -> timedOut(spec));
    Map<String, Object> document = document(spec, forkPoint, info, remaining);
    try {
      BackendSandbox created = backend.create(spec.id(), document, remaining.get());
      requireUsable(created, info);
      OpenSandbox sandbox = opener.open(spec.id(), SandboxNote.of(spec), info, capabilities);
      try {
        sandbox.ping();
        SandboxInitializer.initialize(sandbox.sandbox(), spec, remaining);
        return sandbox;
      } catch (RuntimeException e) {
        sandbox.close();
        throw e;
      }
    } catch (SandboxException e) {
      throw undo(spec, e);
    }
  }

  private Map<String, Object> document(
      SandboxSpec spec,
      Optional<String> forkPoint,
      BackendInfo info,
      Supplier<Duration> remaining) {
    boolean relayed = info.level() == Level.RELAY;
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("instance", instance.value());
    document.put("sandbox", spec.id().value());
    document.put("note", SandboxNote.of(spec).text());
    info.provider().ifPresent(name -> document.put("provider", name));
    forkPoint.ifPresent(point -> document.put("forkPoint", point));
    boolean backendEndsIt = !relayed || info.capabilities().contains(RENEWING);
    spec.deadline()
        .filter(_ -> backendEndsIt)
        .ifPresent(time -> document.put("ttlMs", Math.max(1, time.toMillis())));
    document.put("spec", SpecDocument.forBackend(spec));
    if (relayed) {
      document.put(
          "agent",
          new RelayedAgent(backend, instance)
              .prepare(spec, info, key.secretOf(spec.id()), remaining));
    }
    document.put("startupTimeoutMs", remaining.get().toMillis());
    return document;
  }

  private static final String RENEWING = Capability.idOf(Renewing.class);

  private static void requireUsable(BackendSandbox created, BackendInfo info) {
    Isolation isolation = created.isolation().orElse(info.isolation());
    if (!isolation.isAtLeast(info.isolation())) {
      throw unavailable(
          "the backend declares the isolation "
              + info.isolation()
              + " and created a sandbox with "
              + isolation);
    }
    if (created.state() != SandboxState.RUNNING) {
      throw unavailable("the backend created a sandbox in the state " + created.state());
    }
  }

  private static SandboxException unavailable(String problem) {
    return Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, problem, "report it to its operator")
        .exception();
  }

  /** Removes what a failed create left, even if the caller was interrupted. */
  private SandboxException undo(SandboxSpec spec, SandboxException why) {
    boolean interrupted = Thread.interrupted();
    try {
      backend.destroy(spec.id(), true, backend.longTimeout());
      return why.sandbox().isPresent() ? why : why.fault().sandbox(spec.id()).exception(why);
    } catch (SandboxException e) {
      if (why.code() == ErrorCode.PROVIDER_UNAVAILABLE && neverConnected(why, e)) {
        return why;
      }
      e.addSuppressed(why);
      return Fault.of(
              ErrorCode.OUTCOME_UNKNOWN,
              "the create failed ("
                  + why.fault().problem()
                  + "), and the sandbox may exist: "
                  + e.fault().problem(),
              "the server destroys it when the backend works again")
          .sandbox(spec.id())
          .exception(e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Without a connection, neither request reached the backend. */
  private static boolean neverConnected(SandboxException create, SandboxException undo) {
    return create.getCause() != null
        && undo.getCause() != null
        && create.getCause() instanceof java.net.ConnectException
        && undo.getCause() instanceof java.net.ConnectException;
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
