package dev.isola.engine.crash;

import dev.isola.spi.Destroy;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.store.SandboxEntry;
import dev.isola.store.SandboxFilter;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** What somebody does to sandboxes while no engine is there; the next one has to cope. */
enum Plant {
  /** Makes one that nobody wrote down. */
  STRAY {
    @Override
    void by(CrashServer.Before house, RandomGenerator random, Tell tell) {
      house
          .registry()
          .get("subprocess")
          .create(SandboxSpec.builder(SandboxId.random(random)).build());
    }
  },
  /** Takes one away. */
  LOST {
    @Override
    void by(CrashServer.Before house, RandomGenerator random, Tell tell) {
      one(house, "subprocess")
          .ifPresent(
              entry -> {
                tell.say("lost", entry.id());
                house.registry().get(entry.provider()).destroy(entry.id(), Destroy.FORCE);
              });
    }
  },
  /** Pauses one. */
  PAUSED {
    @Override
    void by(CrashServer.Before house, RandomGenerator random, Tell tell) {
      one(house, "bubblewrap")
          .ifPresent(
              entry -> {
                tell.say("pausing", entry.id());
                house
                    .registry()
                    .get(entry.provider())
                    .attach(entry.id())
                    .flatMap(sandbox -> sandbox.as(Pausing.class))
                    .ifPresent(sandbox -> sandbox.pause(Pausing.PauseKind.MEMORY));
              });
    }
  };

  abstract void by(CrashServer.Before house, RandomGenerator random, Tell tell);

  private static Optional<SandboxEntry> one(CrashServer.Before house, String provider) {
    SandboxFilter filter =
        SandboxFilter.ALL
            .provider(provider)
            .states(SandboxState.RUNNING)
            .label(Traffic.LIFE, Traffic.FOREVER);
    return house.ledger().sandboxes().list(filter, "", 1).entries().stream().findFirst();
  }
}
