package dev.isola.conformance;

import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * A provider on a new data folder, with its own instance id. On close, or when the JVM shuts down
 * before, all its sandboxes are destroyed and the folder is removed.
 */
public final class TemporaryInstallation implements AutoCloseable {
  /** Shorter than the time that service managers allow for a shutdown. */
  private static final Duration TIMEOUT = Duration.ofSeconds(25);

  private final ProviderFactory factory;
  private final ProviderConfig config;
  private final InstanceId instance;
  private final TemporaryFolder folder;
  private final ReentrantLock using = new ReentrantLock();
  private final ReentrantLock ending = new ReentrantLock();
  private final Thread hook = Thread.ofPlatform().unstarted(this::shutDown);
  private volatile Runnable stop = () -> {};
  private boolean ended;

  private TemporaryInstallation(ProviderFactory factory, ProviderConfig config) {
    this.factory = factory;
    this.config = config;
    this.instance = new InstanceId(SandboxId.random(new SecureRandom()).value());
    this.folder = TemporaryFolder.create("isola-");
  }

  public static TemporaryInstallation of(ProviderFactory factory) {
    return of(factory, ProviderConfig.EMPTY);
  }

  public static TemporaryInstallation of(ProviderFactory factory, ProviderConfig config) {
    TemporaryInstallation installation = new TemporaryInstallation(factory, config);
    Runtime.getRuntime().addShutdownHook(installation.hook);
    return installation;
  }

  /** What an operator installs once for all providers. */
  private static final List<String> SHARED = List.of("images", "kernel");

  /**
   * Lets the provider use the images and the kernel of another installation.
   *
   * @param data the data folder of that installation
   */
  public TemporaryInstallation sharing(Path data) {
    for (String name : SHARED) {
      Path source = data.resolve(name).toAbsolutePath();
      if (Files.isDirectory(source)) {
        try {
          Files.createSymbolicLink(data().resolve(name), source);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }
    return this;
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

  /** Returns the data folder of the provider. */
  public Path data() {
    return folder.path();
  }

  /** Opens the provider. To the provider, every call looks like another process. */
  public Provider open() {
    return factory.create(config, new ProviderContext(instance, data(), InstantSource.system()));
  }

  /**
   * Runs {@code work}, which may create sandboxes. If the JVM shuts down meanwhile, it calls {@code
   * stop} and waits for {@code work} to return, up to a timeout, because sandboxes created after
   * the final inventory would leak.
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
      if (using.tryLock(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        using.unlock();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    end();
  }

  /**
   * A second caller waits for the first, so that the JVM does not exit before everything is
   * destroyed.
   */
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
      folder.close();
    }
  }

  @Override
  public void close() {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is already shutting down.
    }
  }
}
