package dev.isola.testing;

import dev.isola.spi.Destroy;
import dev.isola.spi.InstanceId;
import dev.isola.spi.Provider;
import dev.isola.spi.ProviderConfig;
import dev.isola.spi.ProviderContext;
import dev.isola.spi.ProviderFactory;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Sighting;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A provider on a fresh folder, with an instance id of its own. Whatever it still has is destroyed
 * and the folder removed when the trial is closed, and when the JVM is told to end before.
 */
public final class Trial implements AutoCloseable {
  private final ProviderFactory factory;
  private final InstanceId instance;
  private final Scratch scratch;
  private final AtomicBoolean ended = new AtomicBoolean();
  private final Thread hook = Thread.ofPlatform().unstarted(this::end);

  private Trial(ProviderFactory factory) {
    this.factory = factory;
    this.instance = new InstanceId(SandboxId.random(new SecureRandom()).value());
    this.scratch = Scratch.make("isola-");
  }

  public static Trial of(ProviderFactory factory) {
    Trial trial = new Trial(factory);
    Runtime.getRuntime().addShutdownHook(trial.hook);
    return trial;
  }

  public ProviderFactory factory() {
    return factory;
  }

  public InstanceId instance() {
    return instance;
  }

  /** Returns the provider's data folder. */
  public Path data() {
    return scratch.path();
  }

  /** Opens the provider; every call is another process's, as far as the provider can tell. */
  public Provider open() {
    return factory.create(
        ProviderConfig.EMPTY, new ProviderContext(instance, data(), InstantSource.system()));
  }

  private void end() {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    try (Provider provider = open()) {
      for (Sighting left : provider.inventory()) {
        provider.destroy(left.id(), Destroy.FORCE);
      }
    } finally {
      scratch.close();
    }
  }

  @Override
  public void close() {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is ending already.
    }
  }
}
