package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SandboxView;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A backend whose maximum TTL is shorter than the default of the server. */
class DefaultTtlTest {
  @TempDir Path folder;

  private static SandboxRequest request(String id) {
    SandboxSpec spec = SandboxSpec.builder(new SandboxId(id)).build();
    return SandboxRequest.of(CreateRequest.of(spec, "gvisor").withTtl(Duration.ofHours(24)));
  }

  @Test
  void defaultTtlIsShortenedToTheMaximumOfTheBackend() throws IOException {
    FakeProvider cloud = new FakeProvider("gvisor");
    cloud.longestTtl = Duration.ofHours(1);
    try (EngineFixture fixture = new EngineFixture(folder, "", cloud)) {
      SandboxView made = fixture.engine.creator().create(request("one").withDefaultTtl()).view();
      assertThat(made.expiresAt()).contains(made.createdAt().plus(Duration.ofHours(1)));
      assertThat(cloud.lastSpec)
          .extracting(SandboxSpec::deadline)
          .isEqualTo(Optional.of(Duration.ofHours(1)));
    }
  }

  @Test
  void requestedTtlAboveTheMaximumIsRejected() throws IOException {
    FakeProvider cloud = new FakeProvider("gvisor");
    cloud.longestTtl = Duration.ofHours(1);
    try (EngineFixture fixture = new EngineFixture(folder, "", cloud)) {
      assertThatThrownBy(() -> fixture.engine.creator().create(request("one")))
          .isInstanceOf(InvalidRequest.class)
          .hasMessageContaining("the ttl is too long");
    }
  }
}
