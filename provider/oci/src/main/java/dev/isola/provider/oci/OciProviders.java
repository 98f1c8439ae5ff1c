package dev.isola.provider.oci;

import dev.isola.host.launch.IoSettings;
import dev.isola.host.launch.IsolatedBooter;
import dev.isola.host.launch.SandboxProbe;
import dev.isola.link.local.LocalProvider;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;

/** Assembles providers from their parts. */
final class OciProviders {
  private OciProviders() {}

  static Provider of(
      OciRuntime runtime, SandboxProbe probe, ProviderConfig config, ProviderContext context) {
    OciIsolator isolator = new OciIsolator(runtime, new RuntimeProbe(runtime, config, probe));
    return new LocalProvider(context, new IsolatedBooter(context, isolator, IoSettings.of(config)));
  }
}
