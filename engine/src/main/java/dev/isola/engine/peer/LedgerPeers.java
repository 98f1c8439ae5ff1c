package dev.isola.engine.peer;

import dev.isola.engine.api.Peers;
import dev.isola.engine.api.SandboxHome;
import dev.isola.engine.api.ServerView;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.Ledger;
import dev.isola.store.SandboxEntry;
import dev.isola.store.ServerEntry;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** The servers of a ledger, and which of them owns a sandbox. */
public final class LedgerPeers implements Peers {
  /** How often the owner of a sandbox may change while it is looked up. */
  private static final int MAX_TRIES = 3;

  private static final SandboxHome HERE = new SandboxHome.Here();

  private final Ledger ledger;
  private final ServerLease lease;
  private final TakeOverTask takeOver;
  private final Predicate<SandboxId> attached;
  private final Secret key;

  /**
   * @param attached whether this server has a connection to a sandbox
   */
  public LedgerPeers(
      Ledger ledger,
      ServerLease lease,
      TakeOverTask takeOver,
      Predicate<SandboxId> attached,
      Secret key) {
    this.ledger = ledger;
    this.lease = lease;
    this.takeOver = takeOver;
    this.attached = attached;
    this.key = key;
  }

  @Override
  public String self() {
    return lease.server().orElseThrow();
  }

  @Override
  public List<ServerView> all() {
    return ledger.servers().all().stream().map(LedgerPeers::view).toList();
  }

  private static ServerView view(ServerEntry entry) {
    return new ServerView(
        entry.name(), URI.create(entry.url()), entry.version(), entry.startedAt(), entry.alive());
  }

  @Override
  public SandboxHome homeOf(SandboxId id) {
    if (attached.test(id) && lease.isCurrent()) {
      return HERE;
    }
    for (int tries = 1; ; tries++) {
      Optional<SandboxEntry> entry = ledger.sandboxes().find(id);
      if (entry.isEmpty()
          || entry.get().state() == SandboxState.DESTROYED
          || lease.owns(entry.get())) {
        return HERE;
      }
      String owner = entry.get().owner();
      Optional<ServerEntry> server = find(owner);
      if (server.filter(ServerEntry::alive).isPresent()) {
        return new SandboxHome.At(owner, URI.create(server.get().url()));
      }
      if (takeOver.run(id).isPresent()) {
        return HERE;
      }
      if (tries == MAX_TRIES) {
        throw owner.isEmpty() ? isMoving(id) : ownerIsDown(entry.get());
      }
    }
  }

  /** Finds a server that was alive at the last renewal, or as the ledger has it now. */
  private Optional<ServerEntry> find(String name) {
    return find(name, lease.servers())
        .filter(ServerEntry::alive)
        .or(() -> find(name, ledger.servers().all()));
  }

  private static Optional<ServerEntry> find(String name, List<ServerEntry> servers) {
    return servers.stream().filter(one -> one.name().equals(name)).findFirst();
  }

  /** Returns the error for a request to a server that gives up its sandboxes. */
  private static SandboxException isMoving(SandboxId id) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "sandbox " + id + " moves to another server, because this one is shutting down",
            "repeat the request")
        .sandbox(id)
        .exception();
  }

  private static SandboxException ownerIsDown(SandboxEntry entry) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "sandbox "
                + entry.id()
                + " runs on the machine of server "
                + entry.owner()
                + ", which is down",
            "start that server again, or create a new sandbox")
        .sandbox(entry.id())
        .with("server", entry.owner())
        .exception();
  }

  @Override
  public Secret key() {
    return key;
  }
}
