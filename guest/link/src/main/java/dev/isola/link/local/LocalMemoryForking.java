package dev.isola.link.local;

import dev.isola.link.AgentSandbox;
import dev.isola.link.KernelEvidence;
import dev.isola.link.SandboxHold;
import dev.isola.link.local.Booter.SavedSandbox;
import dev.isola.link.local.SandboxRecordStore.StoredSandbox;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Forking.ForkPoint;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

/**
 * Forks local sandboxes with their processes, where the booter can save and restore them.
 *
 * @param attached the sandboxes of this process
 * @param create creates a sandbox from a saved one
 */
record LocalMemoryForking(
    Booter booter,
    SandboxRecordStore store,
    SandboxLocks locks,
    Map<SandboxId, AgentSandbox> attached,
    BiFunction<SandboxSpec, MemoryForkPoint, Sandbox> create) {
  /** When the agent of a source continues by itself, in case the server has died. */
  private static final Duration HOLD_TIMEOUT = Duration.ofSeconds(30);

  /** Returns the capability of a sandbox. */
  MemoryForking of(SandboxId id) {
    return () -> locks.withLock(id, () -> save(id));
  }

  private ForkPoint save(SandboxId id) {
    StoredSandbox stored =
        store
            .find(id)
            .filter(found -> !found.record().stopped() && found.record().agent().isPresent())
            .orElseThrow(() -> notRunning(id));
    AgentSandbox sandbox = attached.get(id);
    if (sandbox == null || sandbox.state() != SandboxState.RUNNING) {
      throw notRunning(id);
    }
    long begin = System.nanoTime();
    SavedSandbox saved = null;
    try (SandboxHold hold = sandbox.hold(HOLD_TIMEOUT)) {
      saved = booter.save(id, stored.folder());
      KernelEvidence source = hold.release(); // fails if the agent has continued before
      Duration frozen = Duration.ofNanos(System.nanoTime() - begin);
      return new MemoryForkPoint(this, id, stored.record().secret(), saved, source, frozen);
    } catch (IOException e) {
      discard(saved, e);
      throw failed(id, "saved", e);
    } catch (RuntimeException e) {
      discard(saved, e);
      throw e;
    }
  }

  private void discard(@org.jspecify.annotations.Nullable SavedSandbox saved, Exception cause) {
    if (saved != null) {
      try {
        booter.discard(saved);
      } catch (IOException e) {
        cause.addSuppressed(e);
      }
    }
  }

  private static SandboxException notRunning(SandboxId id) {
    return Fault.of(
            ErrorCode.CONFLICT,
            "sandbox " + id + " is not running",
            "resume it, or create a new one")
        .sandbox(id)
        .exception();
  }

  private static SandboxException failed(SandboxId id, String action, IOException e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "the processes of sandbox " + id + " cannot be " + action + ": " + e.getMessage(),
            "request a fork of its files")
        .sandbox(id)
        .exception(e);
  }

  /** A saved sandbox, and what distinguishes it and its copies. */
  static final class MemoryForkPoint implements ForkPoint {
    /** More than the time in which an answer arrives, less than any sandbox is saved for. */
    private static final Duration MAX_CLOCK_DIFFERENCE = Duration.ofSeconds(2);

    private final LocalMemoryForking forking;
    private final SandboxId source;
    private final Secret secret;
    private final SavedSandbox saved;
    private final Duration frozen;
    private final Set<String> seenRandom = ConcurrentHashMap.newKeySet();

    private MemoryForkPoint(
        LocalMemoryForking forking,
        SandboxId source,
        Secret secret,
        SavedSandbox saved,
        KernelEvidence evidence,
        Duration frozen) {
      this.forking = forking;
      this.source = source;
      this.secret = secret;
      this.saved = saved;
      this.frozen = frozen;
      seenRandom.add(evidence.random());
    }

    SavedSandbox saved() {
      return saved;
    }

    /** Returns the secret that the agents of restored sandboxes know first. */
    Secret secret() {
      return secret;
    }

    /**
     * Verifies what the agent of a fork observes, before its commands continue.
     *
     * @throws SandboxException if its clock is wrong, or its random bytes are those of another
     */
    void verify(SandboxId fork, KernelEvidence evidence) {
      Duration difference = Duration.between(evidence.time(), java.time.Instant.now()).abs();
      if (difference.compareTo(MAX_CLOCK_DIFFERENCE) > 0) {
        throw unfaithful(fork, "its clock differs by " + difference.toMillis() + " ms");
      }
      if (!seenRandom.add(evidence.random())) {
        throw unfaithful(fork, "its kernel repeats the random bytes of another sandbox");
      }
    }

    private static SandboxException unfaithful(SandboxId fork, String problem) {
      return Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "fork " + fork + " was not started: " + problem,
              "request a fork of the files")
          .sandbox(fork)
          .exception();
    }

    @Override
    public Duration frozenFor() {
      return frozen;
    }

    @Override
    public Sandbox create(SandboxSpec spec) {
      return forking.create().apply(spec, this);
    }

    @Override
    public void close() {
      try {
        forking.booter().discard(saved);
      } catch (IOException e) {
        throw failed(source, "removed", e);
      }
    }
  }
}
