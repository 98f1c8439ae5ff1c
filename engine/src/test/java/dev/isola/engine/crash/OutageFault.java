package dev.isola.engine.crash;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.EntryFilter;
import dev.isola.store.SandboxEntry;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** What somebody does to sandboxes while no engine is there; the next one has to cope. */
enum OutageFault {
  /** Makes one that nobody wrote down. */
  STRAY {
    @Override
    void inject(CrashServer.StoppedEngine house, RandomGenerator random, LineWriter tell) {
      house
          .registry()
          .get("subprocess")
          .create(SandboxSpec.builder(SandboxId.random(random)).build());
    }
  },
  /** Takes one away. */
  LOST {
    @Override
    void inject(CrashServer.StoppedEngine house, RandomGenerator random, LineWriter tell) {
      one(house, "subprocess")
          .ifPresent(
              entry -> {
                tell.write("lost", entry.id());
                house.registry().get(entry.provider()).destroy(entry.id(), DestroyOptions.FORCE);
              });
    }
  },
  /** Pauses one. */
  PAUSED {
    @Override
    void inject(CrashServer.StoppedEngine house, RandomGenerator random, LineWriter tell) {
      one(house, "bubblewrap")
          .ifPresent(
              entry -> {
                tell.write("pausing", entry.id());
                house
                    .registry()
                    .get(entry.provider())
                    .attach(entry.id())
                    .flatMap(sandbox -> sandbox.as(Pausing.class))
                    .ifPresent(sandbox -> sandbox.pause(Pausing.PauseKind.MEMORY));
              });
    }
  };

  abstract void inject(CrashServer.StoppedEngine house, RandomGenerator random, LineWriter tell);

  private static Optional<SandboxEntry> one(CrashServer.StoppedEngine house, String provider) {
    EntryFilter filter =
        EntryFilter.ALL
            .provider(provider)
            .states(SandboxState.RUNNING)
            .label(ClientTraffic.LIFE, ClientTraffic.FOREVER);
    return house.ledger().sandboxes().list(filter, "", 1).entries().stream().findFirst();
  }
}
