package dev.isola.simulation;

import static dev.isola.simulation.Timeline.SECOND;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.admission.AdmissionQueue;
import dev.isola.engine.api.Selection;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.SandboxEntry;
import dev.isola.store.UpdateResult;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.function.Consumer;

/** Creates one sandbox: selection, admission, intent, provider with fallback, running. */
final class Creation {
  private static final long QUEUE_TIMEOUT = 10 * SECOND;
  private static final int ATTEMPTS = 3;

  private final SimulatedServer server;
  private final World world;
  private final SandboxId id;
  private final boolean local;
  private final long ttl;
  private final Consumer<SandboxEntry> acknowledge;
  private final Deque<ProviderInfo> candidates = new ArrayDeque<>();
  private AdmissionQueue.@org.jspecify.annotations.Nullable Ticket ticket;
  private int attempts;

  Creation(
      SimulatedServer server,
      SandboxId id,
      boolean local,
      long ttl,
      Consumer<SandboxEntry> acknowledge) {
    this.server = server;
    this.world = server.world;
    this.id = id;
    this.local = local;
    this.ttl = ttl;
    this.acknowledge = acknowledge;
  }

  void start(Placement placement) {
    world.roundTrips.begin(Operation.CREATE);
    SandboxSpec spec = SandboxSpec.builder(id).build();
    Selection selection =
        placement.select(
            server, local ? CreateRequest.of(spec, World.LOCAL) : CreateRequest.auto(spec));
    candidates.addAll(selection.candidates());
    if (candidates.isEmpty() || !server.isCurrent()) {
      world.monitor.rejected++;
      return;
    }
    ticket =
        server.reserve(
            candidates.element().name(),
            QUEUE_TIMEOUT,
            this::insert,
            () -> world.monitor.rejected++);
  }

  private void insert() {
    ProviderInfo provider = candidates.remove();
    SandboxEntry intent =
        SandboxEntry.intent(id, "{}", "hash", provider.name(), provider.isolation(), server.clock())
            .expiresAt(server.clock().plusNanos(ttl * 1000))
            .owner(server.name)
            .build();
    world.monitor.requested(id, server, Timeline.time(intent.expiresAt().orElseThrow()));
    server.inTransition.add(id);
    if (world.scenario.planted() == PlantedFault.ACKNOWLEDGED_TOO_EARLY) {
      acknowledge.accept(intent);
    }
    server.database.call(
        Operation.CREATE,
        ledger -> ledger.sandboxes().insert(intent),
        this::create,
        failure -> {
          if (failure.code() == ErrorCode.OUTCOME_UNKNOWN) {
            readAfter(SandboxState.CREATING, this::create);
          } else {
            abandon();
          }
        });
  }

  /** Looks what has become of a write whose answer was lost. */
  private void readAfter(SandboxState expected, Consumer<SandboxEntry> then) {
    server.database.call(
        Operation.CREATE,
        ledger -> ledger.sandboxes().find(id),
        found -> {
          Optional<SandboxEntry> mine =
              found.filter(server::owns).filter(entry -> entry.state() == expected);
          mine.ifPresentOrElse(then, this::abandon);
        },
        _ -> abandon());
  }

  private void create(SandboxEntry entry) {
    world
        .backend(entry)
        .create(
            server,
            id,
            outcome -> {
              switch (outcome) {
                case CREATED -> running(entry);
                case FAILED -> fallBack(entry);
                case UNKNOWN -> fail(entry);
              }
            });
  }

  private void fallBack(SandboxEntry entry) {
    if (candidates.isEmpty()) {
      fail(entry);
      return;
    }
    ProviderInfo next = candidates.remove();
    AdmissionQueue.Ticket reserved = ticket;
    if (reserved != null) {
      server.move(reserved, next.name());
    }
    server.write(
        Operation.CREATE,
        entry.toBuilder().provider(next.name(), next.isolation()).build(),
        result -> {
          if (result instanceof UpdateResult.Written(SandboxEntry moved)) {
            create(moved);
          } else {
            abandon();
          }
        },
        _ -> abandon());
  }

  private void running(SandboxEntry entry) {
    attempts++;
    server.write(
        Operation.CREATE,
        entry.withState(SandboxState.RUNNING, server.clock()),
        result -> {
          if (result instanceof UpdateResult.Written(SandboxEntry running)) {
            finish(running);
          } else {
            abandon();
          }
        },
        failure -> afterFailure(entry, failure));
  }

  private void afterFailure(SandboxEntry entry, SandboxException failure) {
    if (attempts > ATTEMPTS) {
      abandon();
      return;
    }
    server.later(
        SECOND,
        () -> {
          if (failure.code() == ErrorCode.OUTCOME_UNKNOWN) {
            readCurrent(entry);
          } else {
            running(entry);
          }
        });
  }

  private void readCurrent(SandboxEntry entry) {
    server.database.call(
        Operation.CREATE,
        ledger -> ledger.sandboxes().find(id).orElseThrow(),
        found -> {
          if (!server.owns(found)) {
            abandon();
          } else if (found.state() == SandboxState.RUNNING) {
            finish(found);
          } else if (found.state() == SandboxState.CREATING) {
            running(found);
          } else {
            abandon();
          }
        },
        failure -> afterFailure(entry, failure));
  }

  private void finish(SandboxEntry running) {
    server.inTransition.remove(id);
    AdmissionQueue.Ticket reserved = ticket;
    if (reserved != null) {
      server.started(running, reserved);
    }
    if (world.scenario.planted() != PlantedFault.ACKNOWLEDGED_TOO_EARLY) {
      acknowledge.accept(running);
    }
  }

  /** The provider failed: the client gets an error, and what may exist is removed. */
  private void fail(SandboxEntry entry) {
    new Destruction(server, Operation.CREATE).begin(entry, "no provider created it", this::abandon);
  }

  /** Leaves the rest to the reconciliation, here or of the new owner. The client gets an error. */
  private void abandon() {
    world.monitor.rejected++;
    server.inTransition.remove(id);
    AdmissionQueue.Ticket reserved = ticket;
    if (reserved != null) {
      server.release(reserved);
    }
  }
}
