package dev.isola.link.local;

import dev.isola.link.AgentSandbox;
import dev.isola.link.KernelEvidence;
import dev.isola.link.SandboxHold;
import dev.isola.link.local.Booter.BootRequest;
import dev.isola.link.local.MemoryForker.RestoredSandbox;
import dev.isola.link.local.MemoryForker.SavedSandbox;
import dev.isola.link.local.SandboxRecordStore.StoredSandbox;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.MemoryForking;
import dev.isola.spi.capability.MemoryForking.MemoryForkPoint;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Forks local sandboxes with their processes.
 *
 * @param attached the sandboxes of this process
 * @param create creates a sandbox from a saved one
 */
record LocalMemoryForking(
    MemoryForker forker,
    SandboxRecordStore store,
    SandboxLocks locks,
    Map<SandboxId, AgentSandbox> attached,
    BiFunction<SandboxSpec, LocalMemoryForkPoint, Sandbox> create) {
  /** When the agent of a source continues by itself, in case the server has died. */
  private static final Duration HOLD_TIMEOUT = Duration.ofSeconds(30);

  /** Returns the capability of a sandbox. */
  MemoryForking of(SandboxId id) {
    return () -> locks.withLock(id, () -> save(id));
  }

  private LocalMemoryForkPoint save(SandboxId id) {
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
      saved = forker.save(stored.record(), stored.folder());
      KernelEvidence source = hold.release(); // fails if the agent has continued before
      Duration frozen = Duration.ofNanos(System.nanoTime() - begin);
      return new LocalMemoryForkPoint(this, saved, source.random(), frozen);
    } catch (IOException e) {
      discard(saved, e);
      throw failed(id, "saved", e);
    } catch (RuntimeException e) {
      discard(saved, e);
      throw e;
    }
  }

  /** Opens a fork point that was stored. */
  LocalMemoryForkPoint open(InputStream archive) {
    try {
      return new LocalMemoryForkPoint(this, forker.open(archive), "", Duration.ZERO);
    } catch (IOException e) {
      throw unusable("opened", e);
    }
  }

  private static SandboxException unusable(String action, IOException e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "a saved sandbox cannot be " + action + ": " + e.getMessage(),
            "check the free space and permissions of the data folder")
        .exception(e);
  }

  private void discard(@Nullable SavedSandbox saved, Exception cause) {
    if (saved != null) {
      try {
        forker.discard(saved);
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
  static final class LocalMemoryForkPoint implements MemoryForkPoint {
    /** More than the time in which an answer arrives, less than any sandbox is saved for. */
    private static final Duration MAX_CLOCK_DIFFERENCE = Duration.ofSeconds(2);

    private final LocalMemoryForking forking;
    private final SavedSandbox saved;
    private final Duration frozen;
    private final Set<String> seenRandom = ConcurrentHashMap.newKeySet();

    private LocalMemoryForkPoint(
        LocalMemoryForking forking, SavedSandbox saved, String random, Duration frozen) {
      this.forking = forking;
      this.saved = saved;
      this.frozen = frozen;
      seenRandom.add(random);
    }

    RestoredSandbox restore(BootRequest request) throws IOException {
      return forking.forker().restore(request, saved);
    }

    /** Returns the secret that the agent of a restored sandbox has. */
    Secret secret() {
      return saved.secret();
    }

    /**
     * Verifies what the agent of a fork observes, before its commands continue.
     *
     * @throws SandboxException if its clock is wrong, or its random bytes are those of another
     */
    void verify(SandboxId fork, KernelEvidence evidence) {
      Duration difference = Duration.between(evidence.time(), Instant.now()).abs();
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
    public InputStream archive() {
      try {
        return forking.forker().archive(saved);
      } catch (IOException e) {
        throw unusable("stored", e);
      }
    }

    @Override
    public void close() {
      try {
        forking.forker().discard(saved);
      } catch (IOException e) {
        throw unusable("removed", e);
      }
    }
  }
}
