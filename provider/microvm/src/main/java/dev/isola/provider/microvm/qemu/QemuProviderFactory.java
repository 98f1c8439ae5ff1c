package dev.isola.provider.microvm.qemu;

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
 * Creates the {@code qemu} provider. Settings: {@code program} names another QEMU, {@code kernel}
 * the guest's kernel, {@code image} the image of sandboxes that name none, {@code accelerator}
 * chooses {@code kvm} or {@code emulation}, {@code templates} set to {@code false} boots each
 * machine.
 */
public final class QemuProviderFactory implements ProviderFactory {
  static final Duration ACCELERATED = Duration.ofMillis(200);
  static final Duration EMULATED = Duration.ofMillis(800);

  @Override
  public String name() {
    return QemuDescription.NAME;
  }

  @Override
  public ProviderProfile profile() {
    return new ProviderProfile(Isolation.VM, Hosting.LOCAL, ACCELERATED);
  }

  @Override
  public List<String> programs() {
    return List.of(QemuProgram.name(), RootDisks.PROGRAM);
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return new LocalProvider(context, new QemuBooter(config, context));
  }
}
