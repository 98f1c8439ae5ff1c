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

/** A change to sandboxes while no engine is running, which the next engine must handle. */
enum OutageFault {
  /** Creates an unrecorded sandbox. */
  STRAY {
    @Override
    void inject(CrashServer.StoppedEngine fixture, RandomGenerator random, LineWriter out) {
      fixture
          .registry()
          .get("subprocess")
          .create(SandboxSpec.builder(SandboxId.random(random)).build());
    }
  },
  /** Removes a sandbox. */
  LOST {
    @Override
    void inject(CrashServer.StoppedEngine fixture, RandomGenerator random, LineWriter out) {
      one(fixture, "subprocess")
          .ifPresent(
              entry -> {
                out.write("lost", entry.id());
                fixture.registry().get(entry.provider()).destroy(entry.id(), DestroyOptions.FORCE);
              });
    }
  },
  /** Pauses a sandbox. */
  PAUSED {
    @Override
    void inject(CrashServer.StoppedEngine fixture, RandomGenerator random, LineWriter out) {
      one(fixture, "bubblewrap")
          .ifPresent(
              entry -> {
                out.write("pausing", entry.id());
                fixture
                    .registry()
                    .get(entry.provider())
                    .attach(entry.id())
                    .flatMap(sandbox -> sandbox.as(Pausing.class))
                    .ifPresent(sandbox -> sandbox.pause(Pausing.PauseKind.MEMORY));
              });
    }
  };

  abstract void inject(CrashServer.StoppedEngine fixture, RandomGenerator random, LineWriter out);

  private static Optional<SandboxEntry> one(CrashServer.StoppedEngine fixture, String provider) {
    EntryFilter filter =
        EntryFilter.ALL
            .provider(provider)
            .states(SandboxState.RUNNING)
            .label(ClientTraffic.LIFE, ClientTraffic.FOREVER);
    return fixture.ledger().sandboxes().list(filter, "", 1).entries().stream().findFirst();
  }
}
