package dev.isola.engine.registry;

import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.ErrorCode;
import java.time.Duration;
import java.util.List;

/** The volumes of a provider behind its {@link ProviderGuard}. */
record GuardedVolumes(Volumes volumes, ProviderGuard guard) implements Volumes {
  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  /** Longer, because deleting many files takes time. */
  private static final Duration DESTROY_TIMEOUT = Duration.ofMinutes(5);

  @Override
  public void create(String name) {
    guard.run("volume create", TIMEOUT, ErrorCode.DEADLINE_EXCEEDED, () -> volumes.create(name));
  }

  @Override
  public List<String> list() {
    return guard.call("volume list", TIMEOUT, ErrorCode.PROVIDER_UNAVAILABLE, volumes::list);
  }

  @Override
  public void destroy(String name) {
    guard.run(
        "volume destroy",
        DESTROY_TIMEOUT,
        ErrorCode.DEADLINE_EXCEEDED,
        () -> volumes.destroy(name));
  }
}
