package dev.isola.engine.decorator;

import dev.isola.spi.capability.Volumes;
import dev.isola.spi.error.ErrorCode;
import java.util.List;

/** The volumes of a provider. */
record VolumesDecorator(Volumes volumes, ProviderGuard guard, TimeLimits limits)
    implements Volumes {
  @Override
  public void create(String name) {
    guard.run(
        "volume create", limits.grace(), ErrorCode.DEADLINE_EXCEEDED, () -> volumes.create(name));
  }

  @Override
  public List<String> list() {
    return guard.call("volume list", limits.grace(), ErrorCode.PROVIDER_UNAVAILABLE, volumes::list);
  }

  @Override
  public void destroy(String name) {
    guard.run(
        "volume destroy",
        limits.removal(),
        ErrorCode.DEADLINE_EXCEEDED,
        () -> volumes.destroy(name));
  }
}
