package dev.isola.engine;

import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.Peers;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.registry.ProviderRegistry;
import dev.isola.engine.lifecycle.LiveSandboxes;
import dev.isola.engine.peer.LedgerPeers;
import dev.isola.engine.peer.Reservations;
import dev.isola.engine.peer.ServerLease;
import dev.isola.engine.peer.TakeOverTask;
import dev.isola.engine.reconcile.Reconciler;
import dev.isola.engine.secret.SealedScope;
import dev.isola.engine.secret.SealedSettings;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.EntryFilter;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntry;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;

/**
 * This server as one of several that share a ledger: renews its lease, and takes over the sandboxes
 * of servers that are gone.
 */
final class Membership implements AutoCloseable {
  private static final int RENEWALS_PER_LEASE = 5;
  private static final int PARALLEL_ATTACHES = 16;
  private static final int KEY_SIZE = 32;
  private static final int HAND_OVER_BATCH = 500;
  private static final Duration HAND_OVER_INTERVAL = Duration.ofMillis(100);
  private static final String PEER_KEY = "peer-key";

  /** How long a server that is gone and owns nothing stays listed. */
  private static final Duration FORGET_AFTER = Duration.ofHours(1);

  private final Ledger ledger;
  private final ServerLease lease;
  private final LiveSandboxes liveSandboxes;
  private final Reconciler reconciler;
  private final TakeOverTask takeOver;
  private final LedgerPeers peers;
  private final Log log;
  private final Set<SandboxId> active;
  private final Set<String> shared;
  private final Thread renewal;
  private final Thread recovery;
  private final Thread handOver;

  Membership(
      Ledger ledger,
      ServerLease lease,
      ProviderRegistry registry,
      AdmissionControl admission,
      LiveSandboxes liveSandboxes,
      Set<SandboxId> active,
      Reconciler reconciler,
      SealedSettings sealed,
      InstantSource clock,
      Log log) {
    this.ledger = ledger;
    this.lease = lease;
    this.liveSandboxes = liveSandboxes;
    this.reconciler = reconciler;
    this.log = log;
    this.active = active;
    shared =
        registry.instances().values().stream()
            .filter(one -> one.profile().shared())
            .map(ProviderInstance::name)
            .collect(Collectors.toSet());
    takeOver = new TakeOverTask(ledger, lease, shared, registry.instances().keySet(), clock, log);
    peers = new LedgerPeers(ledger, lease, takeOver, liveSandboxes::contains, key(sealed));
    renewal = leaseLoop(() -> lease.renew(this::dropLost, reserved(shared, admission)));
    recovery =
        Thread.ofVirtual()
            .name("isola-take-over")
            .unstarted(loop("isola-take-over", this::recover));
    handOver = Thread.ofVirtual().name("isola-hand-over").unstarted(this::handOverIdle);
  }

  private static Reservations reserved(Set<String> shared, AdmissionControl admission) {
    return new Reservations(
        shared.stream().collect(Collectors.toMap(name -> name, admission::reserved)));
  }

  private static Secret key(SealedSettings sealed) {
    byte[] fresh = new byte[KEY_SIZE];
    new SecureRandom().nextBytes(fresh);
    return Secret.of(sealed.putIfAbsent(SealedScope.INSTALLATION, PEER_KEY, fresh));
  }

  /** A thread of its own, because virtual threads that compute delay others. */
  private Thread leaseLoop(Runnable work) {
    return Thread.ofPlatform().daemon().name("isola-lease").unstarted(loop("isola-lease", work));
  }

  private Runnable loop(String name, Runnable work) {
    Duration interval = lease.duration().dividedBy(RENEWALS_PER_LEASE);
    return () -> {
      try {
        while (true) {
          Thread.sleep(interval);
          attempt(name, work);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt(); // the engine is closing
      }
    };
  }

  private void attempt(String name, Runnable work) {
    try {
      work.run();
    } catch (SandboxException e) {
      log.warning(name + " failed and will be retried: " + e.fault().problem());
    } catch (RuntimeException | Error e) {
      log.warning(name + " failed and will be retried: " + e);
    }
  }

  /** Records this server and starts to renew its lease. */
  void join() {
    lease.register();
    renewal.start();
  }

  /** Starts to take over sandboxes. */
  void start() {
    recovery.start();
  }

  /**
   * Starts to give up the sandboxes of this server that no request uses, so that other servers
   * continue them while requests in progress complete here.
   */
  void beginHandOver() {
    takeOver.stop();
    handOver.start();
  }

  private void handOverIdle() {
    try {
      while (true) {
        attempt("handing over sandboxes", this::giveUpIdle);
        Thread.sleep(HAND_OVER_INTERVAL);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the lease ends, and with it the ownership of the others
    }
  }

  private void giveUpIdle() {
    List<SandboxId> idle =
        ledger.sandboxes().listAll(EntryFilter.ALL.notDestroyed().owner(peers.self())).stream()
            .filter(one -> shared.contains(one.provider()))
            .map(SandboxEntry::id)
            .filter(id -> !active.contains(id) && !liveSandboxes.isInTransition(id))
            .toList();
    for (int from = 0; from < idle.size(); from += HAND_OVER_BATCH) {
      List<SandboxId> batch = idle.subList(from, Math.min(idle.size(), from + HAND_OVER_BATCH));
      ledger.sandboxes().giveUp(peers.self(), batch).forEach(liveSandboxes::remove);
    }
  }

  Peers peers() {
    return peers;
  }

  private void recover() {
    List<SandboxEntry> taken = takeOver.run();
    List<SandboxEntry> expired = takeOver.runForExpired();
    attachAll(taken.stream().filter(one -> one.state() == SandboxState.RUNNING).toList());
    if (!expired.isEmpty() || taken.stream().anyMatch(one -> !liveSandboxes.contains(one.id()))) {
      reconciler.reconcile();
    }
    if (lease.claim("forget servers", FORGET_AFTER)) {
      int _ = ledger.servers().forget(FORGET_AFTER);
    }
  }

  /** Connects to the agents of sandboxes, several at a time, so that a hanging one delays few. */
  private void attachAll(List<SandboxEntry> entries) {
    try (ExecutorService workers =
        Executors.newFixedThreadPool(
            PARALLEL_ATTACHES, Thread.ofVirtual().name("isola-attach-", 0).factory())) {
      for (SandboxEntry entry : entries) {
        workers.execute(
            () ->
                attempt(
                    "attaching to sandbox " + entry.id(),
                    () -> {
                      Sandbox _ = liveSandboxes.get(entry);
                    }));
      }
    }
  }

  /** Drops the sandboxes that other servers have taken over. */
  private void dropLost() {
    Set<SandboxId> owned =
        ledger.sandboxes().listAll(EntryFilter.ALL.notDestroyed().owner(peers.self())).stream()
            .map(SandboxEntry::id)
            .collect(Collectors.toSet());
    for (Sandbox one : liveSandboxes.all()) {
      if (!owned.contains(one.id())) {
        liveSandboxes.remove(one.id());
      }
    }
  }

  /** Lets other servers take over at once. */
  @Override
  public void close() {
    handOver.interrupt();
    renewal.interrupt();
    recovery.interrupt();
    attempt("ending the lease", lease::release);
  }
}
