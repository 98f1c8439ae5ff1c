package dev.isola.bench;

import dev.isola.provider.microvm.qemu.QemuProviderFactory;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * The virtual machines of the provider {@code qemu}, each of them booted instead of continued from
 * a template: the same kernel, disks and agent.
 */
record ColdQemu(BenchProvider provider) implements Peer {
  static final String NAME = "qemu-cold";

  static Peer open() throws IOException {
    try {
      return new ColdQemu(
          BenchProvider.of(
              new QemuProviderFactory(), new ProviderConfig(Map.of("templates", "false"))));
    } catch (IllegalStateException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  @Override
  public String version() {
    return "without templates";
  }

  @Override
  public List<BenchSubject> createSubjects() {
    return List.of(
        new BenchSubject(NAME, (n, concurrency) -> CreateBenchmarks.sandboxes(provider, n)));
  }

  @Override
  public List<BenchSubject> execSubjects() {
    return List.of(); // the same as those of the provider
  }

  @Override
  public void close() {
    provider.close();
  }
}
