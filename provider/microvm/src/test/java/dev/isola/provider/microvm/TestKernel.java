package dev.isola.provider.microvm;

import dev.isola.spi.provider.ProviderConfig;
import java.util.Map;
import java.util.Optional;

/** The kernel that {@code ./check} unpacks for tests. */
public final class TestKernel {
  private TestKernel() {}

  /** Returns settings that name the kernel; empty ones if there is none. */
  public static ProviderConfig config() {
    return Optional.ofNullable(System.getenv("ISOLA_TEST_VMLINUZ"))
        .filter(path -> !path.isEmpty())
        .map(path -> new ProviderConfig(Map.of(GuestKernel.SETTING, path)))
        .orElse(ProviderConfig.EMPTY);
  }
}
