package dev.isola.conformance;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * A provider on a fresh folder, with an instance id of its own. Whatever it still has is destroyed
 * and the folder removed when the trial is closed, and when the JVM is told to end before.
 */
public final class TemporaryInstallation implements AutoCloseable {
  /** Less than service managers have with somebody who was told to end. */
  private static final Duration PATIENCE = Duration.ofSeconds(25);

  private final ProviderFactory factory;
  private final ProviderConfig config;
  private final InstanceId instance;
  private final TemporaryFolder scratch;
  private final ReentrantLock using = new ReentrantLock();
  private final ReentrantLock ending = new ReentrantLock();
  private final Thread hook = Thread.ofPlatform().unstarted(this::shutDown);
  private volatile Runnable stop = () -> {};
  private boolean ended;

  private TemporaryInstallation(ProviderFactory factory, ProviderConfig config) {
    this.factory = factory;
    this.config = config;
    this.instance = new InstanceId(SandboxId.random(new SecureRandom()).value());
    this.scratch = TemporaryFolder.create("isola-");
  }

  public static TemporaryInstallation of(ProviderFactory factory) {
    return of(factory, ProviderConfig.EMPTY);
  }

  public static TemporaryInstallation of(ProviderFactory factory, ProviderConfig config) {
    TemporaryInstallation trial = new TemporaryInstallation(factory, config);
    Runtime.getRuntime().addShutdownHook(trial.hook);
    return trial;
  }

  public ProviderFactory factory() {
    return factory;
  }

  public ProviderConfig config() {
    return config;
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
    return factory.create(config, new ProviderContext(instance, data(), InstantSource.system()));
  }

  /**
   * Does {@code work}, which may make sandboxes. A JVM that is told to end meanwhile calls {@code
   * stop} and waits until the work is over, for a while: what is made after the last look would be
   * left behind.
   */
  public <T> T run(Runnable stop, Supplier<T> work) {
    using.lock();
    try {
      this.stop = stop;
      return work.get();
    } finally {
      this.stop = () -> {};
      using.unlock();
    }
  }

  private void shutDown() {
    stop.run();
    try {
      if (using.tryLock(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
        using.unlock();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    end();
  }

  /** Who comes second waits for the first: the JVM must not be gone before everything else is. */
  private void end() {
    ending.lock();
    try {
      if (!ended) {
        ended = true;
        destroyAll();
      }
    } finally {
      ending.unlock();
    }
  }

  private void destroyAll() {
    try (Provider provider = open()) {
      RuntimeException first = null;
      for (InventoryItem left : provider.inventory()) {
        try {
          provider.destroy(left.id(), DestroyOptions.FORCE);
        } catch (RuntimeException e) {
          first = first == null ? e : first;
        }
      }
      if (first != null) {
        throw first;
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
