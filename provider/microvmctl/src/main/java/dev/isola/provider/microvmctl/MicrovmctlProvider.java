package dev.isola.provider.microvmctl;

import dev.isola.link.local.SandboxLocks;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.Health;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Runs sandboxes by a command of the local_microvm contract. The contract has no verb that lists
 * sandboxes, so this provider records its own before it creates them.
 */
final class MicrovmctlProvider implements Provider {
  private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(20);

  private final MicrovmctlSettings settings;
  private final ProviderContext context;
  private final Controller controller;
  private final VmRecords records;
  private final VmCreator creator;
  private final SandboxLocks locks = new SandboxLocks();
  private final Map<SandboxId, VmSandbox> open = new ConcurrentHashMap<>();
  private final Set<SandboxId> owned = ConcurrentHashMap.newKeySet();
  private volatile @Nullable ProbeResult lastProbe;

  MicrovmctlProvider(MicrovmctlSettings settings, ProviderContext context) {
    this.settings = settings;
    this.context = context;
    this.controller = new Controller(settings.command());
    this.records = new VmRecords(context.dataFolder().resolve("sandboxes"), context.instance());
    this.creator = new VmCreator(controller, records, context);
  }

  @Override
  public ProviderInfo info() {
    ProbeResult probe = declared();
    return MicrovmctlDescription.info(
        settings.command(),
        usesAgent(probe),
        probe.isolation().orElse(Isolation.VM),
        probe.accelerated());
  }

  /** Returns the last probe that succeeded; probes if there was none. */
  private ProbeResult declared() {
    ProbeResult last = lastProbe;
    return last == null ? probe() : last;
  }

  private boolean usesAgent(ProbeResult probe) {
    return settings.agent().orElse(probe.features().contains(ProbeResult.EXEC_STDIN));
  }

  @Override
  public Health health() {
    return probe().health();
  }

  /** A failed probe does not change what the provider declares. */
  private ProbeResult probe() {
    try {
      ProbeResult probe = ProbeResult.of(controller.probe(PROBE_TIMEOUT), controller.errors());
      if (probe.health().usable()) {
        lastProbe = probe;
      }
      return probe;
    } catch (SandboxException e) {
      if (e.code() == ErrorCode.CANCELLED) {
        throw e;
      }
      return ProbeResult.unhealthy(e);
    }
  }

  @Override
  public Sandbox create(SandboxSpec spec) {
    info().requireSupported(spec);
    return locks.withLock(
        spec.id(),
        () -> {
          Optional<VmSandbox> existing = attached(spec.id());
          if (existing.isPresent()) {
            return existing.get().sandbox();
          }
          ProbeResult probe = declared();
          VmSandbox created = creator.create(spec, usesAgent(probe), probe.features());
          open.put(spec.id(), created);
          if (spec.linger().filter(Duration::isZero).isPresent()) {
            owned.add(spec.id());
          }
          return created.sandbox();
        });
  }

  @Override
  public Optional<Sandbox> attach(SandboxId id) {
    return locks.withLock(id, () -> attached(id).map(VmSandbox::sandbox));
  }

  /** Returns the sandbox if it exists. Of one whose create was interrupted, nothing is usable. */
  private Optional<VmSandbox> attached(SandboxId id) {
    VmSandbox before = open.get(id);
    if (before != null && before.sandbox().state() != SandboxState.DESTROYED) {
      return Optional.of(before);
    }
    Optional<VmRecord> record = records.find(id).filter(VmRecord::ready);
    if (record.isEmpty()) {
      return Optional.empty();
    }
    VmSandbox sandbox = creator.open(record.get());
    try {
      sandbox.ping();
      open.put(id, sandbox);
      return Optional.of(sandbox);
    } catch (Gone e) {
      sandbox.close();
      return Optional.empty();
    } catch (SandboxException e) {
      sandbox.close();
      throw e;
    }
  }

  @Override
  public List<InventoryItem> inventory() {
    return records.list().stream().map(this::item).toList();
  }

  private InventoryItem item(VmRecord record) {
    Map<String, String> details = new LinkedHashMap<>();
    details.put("vm", record.vm());
    details.put("controller", settings.command().display());
    boolean expired = record.deadline().isBefore(context.clock().instant());
    if (expired) {
      details.put(InventoryItem.END_REASON, "its ttl has passed");
    }
    return new InventoryItem(
        record.id(),
        record.ready() && !expired ? SandboxState.RUNNING : SandboxState.ERROR,
        record.createdAt(),
        details);
  }

  @Override
  public void destroy(SandboxId id, DestroyOptions options) {
    SandboxId _ =
        locks.withLock(
            id,
            () -> {
              Optional<VmRecord> record = records.find(id);
              record.ifPresent(
                  one -> {
                    controller.kill(one.vm(), options.timeout());
                    records.remove(id);
                  });
              forget(id);
              return id;
            });
  }

  private void forget(SandboxId id) {
    owned.remove(id);
    VmSandbox sandbox = open.remove(id);
    if (sandbox != null) {
      sandbox.markDestroyed();
      sandbox.close();
    }
  }

  /** Destroys the sandboxes that must end with their owner. */
  @Override
  public void close() {
    for (SandboxId id : List.copyOf(owned)) {
      try {
        destroy(id, DestroyOptions.FORCE);
      } catch (SandboxException e) {
        owned.remove(id); // Its ttl still ends it.
      }
    }
    open.values().forEach(VmSandbox::close);
    open.clear();
  }
}
