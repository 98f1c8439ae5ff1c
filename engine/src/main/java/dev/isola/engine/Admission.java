package dev.isola.engine;

import dev.isola.engine.admission.AdmissionControl;
import dev.isola.engine.admission.Capacity;
import dev.isola.engine.admission.CapacityPool;
import dev.isola.engine.admission.DiskHeadroom;
import dev.isola.engine.admission.Headroom;
import dev.isola.engine.api.Log;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.Resources;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.peer.ServerLease;
import dev.isola.spi.Hosting;
import dev.isola.store.DiskReserve;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Admission by the configured capacities and the state of the machine and its disks. */
final class Admission {
  /** How soon creates work again when there is space. */
  private static final Duration DISK_INTERVAL = Duration.ofSeconds(1);

  final DiskHeadroom disks;
  final AdmissionControl control;
  private final DiskReserve reserve;
  private final Log log;
  private boolean diskProblem;

  /**
   * Gives each provider with a configured capacity a pool of its own. Remote providers do not run
   * on this machine, so its headroom does not apply to them. Servers that share a ledger share the
   * capacity of a provider that all of them reach.
   *
   * @param lease the lease of this server, if it shares the ledger with others
   */
  Admission(EngineContext context, Optional<ServerLease> lease) {
    Config config = context.config();
    log = context.log();
    reserve = context.ledger().reserve();
    disks = config.disks(context.registry().names(), reserve);
    Headroom headroom = config.headroom(disks);
    Duration queueTimeout = config.get(ConfigKeys.ADMISSION_QUEUE_TIMEOUT);
    Map<String, CapacityPool> dedicated = new HashMap<>();
    config
        .capacities()
        .forEach(
            (name, resources) -> {
              ProviderInstance instance = context.registry().instances().get(name);
              if (instance != null) {
                boolean local = instance.profile().hosting() == Hosting.LOCAL;
                Supplier<Resources> elsewhere =
                    lease.isPresent() && instance.profile().shared()
                        ? () -> lease.get().reservedElsewhere(name)
                        : () -> Resources.NONE;
                dedicated.put(
                    name,
                    new CapacityPool(
                        Capacity.ofProvider(name, resources),
                        local ? headroom : Headroom.UNCHECKED,
                        elsewhere,
                        queueTimeout,
                        context.clock()));
              }
            });
    Capacity shared = Capacity.ofInstallation(config.capacity());
    control =
        new AdmissionControl(
            new CapacityPool(shared, headroom, queueTimeout, context.clock()), dedicated);
  }

  void start(TaskScheduler schedule) {
    schedule.every(DISK_INTERVAL, "disk reserve", this::checkDisks);
  }

  /** Fills the disk reserve up if there is space again, and logs when a disk is full. */
  private void checkDisks() {
    boolean _ = reserve.refill();
    Optional<String> problem = disks.problem();
    if (problem.isPresent() && !diskProblem) {
      log.warning("no sandboxes are created: " + problem.get());
    } else if (problem.isEmpty() && diskProblem) {
      log.info("sandboxes are created again: the disks have space");
    }
    diskProblem = problem.isPresent();
  }
}
