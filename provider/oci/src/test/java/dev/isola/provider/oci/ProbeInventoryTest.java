package dev.isola.provider.oci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.host.launch.SandboxUserIds;
import dev.isola.spi.Health;
import dev.isola.spi.provider.Provider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The sandbox that a health check creates to probe the runtime is not in the inventory, so that no
 * server removes it.
 */
@Timeout(120)
class ProbeInventoryTest {
  /** Blocks as long as a file exists next to it. */
  private static final String WAITS =
      """
      #!/bin/sh
      case "$*" in --version) echo "crun version 1.30"; exit;; esac
      touch "${0%/*}/tried"
      while [ -e "${0%/*}/tried" ]; do sleep 0.1; done
      exit 1
      """;

  @Test
  void probeSandboxIsNotInTheInventory() throws Exception {
    if (!SandboxUserIds.rangesAvailable()) {
      Assumptions.abort("NOT RUN: OCI runtimes make sandboxes only as root");
    }
    try (ScriptedRuntime planted = new ScriptedRuntime(WAITS)) {
      ProviderUnderTest underTest = planted.in(new CrunProviderFactory());
      Path tried = planted.folder().resolve("tried");
      try (Provider provider = underTest.open()) {
        AtomicReference<String> answer = new AtomicReference<>("");
        Thread asking =
            Thread.ofVirtual().start(() -> answer.set(String.valueOf(provider.health())));
        try {
          await().atMost(Duration.ofSeconds(60)).until(() -> Files.exists(tried));
          assertThat(provider.inventory()).isEmpty();
        } finally {
          Files.deleteIfExists(tried);
          asking.join();
        }
        assertThat(answer.get()).startsWith(Health.Unhealthy.class.getSimpleName());
        assertThat(planted.data().resolve("trial/sandboxes")).isEmptyDirectory();
      }
    }
  }
}
