package dev.isola.engine.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.document.request.CreateRequest;
import dev.isola.spi.SandboxId;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SandboxSpec;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SandboxRequestTest {
  @Test
  void createTimeoutIncludesTheStartupTimeout() {
    SandboxSpec spec =
        SandboxSpec.builder(new SandboxId("box")).startupTimeout(Duration.ofSeconds(20)).build();
    SandboxRequest request = SandboxRequest.of(CreateRequest.of(spec, "test"));
    assertThat(request.createTimeout()).isEqualTo(Duration.ofSeconds(20));
    Startup startup =
        Startup.NONE.withReady(Command.shell("true")).withTimeout(Duration.ofSeconds(60));
    assertThat(request.withStartup(startup).createTimeout()).isEqualTo(Duration.ofSeconds(80));
  }
}
