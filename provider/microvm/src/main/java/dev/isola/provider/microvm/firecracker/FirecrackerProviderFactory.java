package dev.isola.provider.microvm.firecracker;

import dev.isola.link.local.LocalProvider;
import dev.isola.provider.microvm.RootDisks;
import dev.isola.spi.Hosting;
import dev.isola.spi.Isolation;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.time.Duration;
import java.util.List;

/**
 * Creates the {@code firecracker} provider. Settings: {@code program} names another Firecracker,
 * {@code jailer} another jailer than the one beside it, {@code kernel} the guest's kernel, {@code
 * image} the image of sandboxes that name none.
 */
public final class FirecrackerProviderFactory implements ProviderFactory {
  /** An estimate: it has not been measured with KVM. */
  static final Duration STARTUP = Duration.ofMillis(100);

  @Override
  public String name() {
    return FirecrackerProgram.NAME;
  }

  @Override
  public ProviderProfile profile() {
    return new ProviderProfile(Isolation.VM, Hosting.LOCAL, STARTUP);
  }

  @Override
  public List<String> programs() {
    return List.of(FirecrackerProgram.NAME, RootDisks.PROGRAM);
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return new LocalProvider(context, new FirecrackerBooter(config, context, FirecrackerCheck.KVM));
  }
}
