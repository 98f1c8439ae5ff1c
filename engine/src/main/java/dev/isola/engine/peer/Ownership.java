package dev.isola.engine.peer;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.SandboxEntry;
import java.time.Duration;
import java.util.Optional;

/** Which sandboxes this server may change, and which tasks it carries out for all servers. */
public interface Ownership {

  /** The ownership of a server that has the ledger to itself. */
  Ownership ALONE =
      new Ownership() {
        @Override
        public Optional<String> server() {
          return Optional.empty();
        }

        @Override
        public boolean isCurrent() {
          return true;
        }

        @Override
        public boolean claim(String task, Duration interval) {
          return true;
        }

        @Override
        public int shareOf(int total) {
          return total;
        }
      };

  /** Returns the name of this server; empty if it has the ledger to itself. */
  Optional<String> server();

  /**
   * Returns whether no other server can have taken over a sandbox of this one. Does not ask the
   * ledger.
   */
  boolean isCurrent();

  /**
   * Claims a recurring task, so that one server carries it out for all.
   *
   * @param interval the time between two runs
   */
  boolean claim(String task, Duration interval);

  /** Returns the part of a number of warm sandboxes that this server provides. */
  int shareOf(int total);

  /** Returns whether this server is the recorded owner of a sandbox. */
  default boolean owns(SandboxEntry entry) {
    return server().isEmpty() || entry.owner().equals(server().get());
  }

  /**
   * Refuses the use of a sandbox that another server owns.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if this server does not own it
   */
  default void require(SandboxEntry entry) {
    if (!owns(entry)) {
      throw notOwner(entry);
    }
  }

  /** Returns the error for the use of a sandbox that another server owns. */
  static SandboxException notOwner(SandboxEntry entry) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "sandbox " + entry.id() + " belongs to server " + entry.owner(),
            "repeat the request")
        .sandbox(entry.id())
        .with("server", entry.owner())
        .exception();
  }
}
