package dev.isola.engine.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.startup.Startup;
import dev.isola.spi.SandboxId;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SandboxRequestTest {
  @Test
  void repeatedCreateIsWaitedForUntilTheStartupHasHadItsTime() {
    SandboxSpec spec =
        SandboxSpec.builder(new SandboxId("box")).startupTimeout(Duration.ofSeconds(20)).build();
    SandboxRequest order = SandboxRequest.of(CreateRequest.of(spec, "test"));
    assertThat(order.createTimeout()).isEqualTo(Duration.ofSeconds(20));
    Startup startup =
        Startup.NONE.withReady(Command.shell("true")).withTimeout(Duration.ofSeconds(60));
    assertThat(order.withStartup(startup).createTimeout()).isEqualTo(Duration.ofSeconds(80));
  }
}
