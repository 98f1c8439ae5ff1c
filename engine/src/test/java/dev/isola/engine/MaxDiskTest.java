package dev.isola.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The largest disk that a request may ask for. */
class MaxDiskTest {
  @TempDir Path folder;

  private static SandboxRequest request(String id, long megabytes) {
    SandboxSpec spec =
        SandboxSpec.builder(new SandboxId(id))
            .limits(ResourceLimits.DEFAULT.withDiskMb(megabytes))
            .build();
    return SandboxRequest.of(CreateRequest.of(spec, "gvisor"));
  }

  @Test
  void diskAboveTheMaximumIsRefused() throws IOException {
    try (EngineFixture fixture =
        new EngineFixture(folder, "sandbox: {max_disk_mb: 2000}", new FakeProvider("gvisor"))) {
      assertThatThrownBy(() -> fixture.engine.creator().create(request("one", 2001)))
          .isInstanceOfSatisfying(
              InvalidRequest.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_SPEC))
          .hasMessageContainingAll("2001", "allows 2000", "sandbox.max_disk_mb");
      assertThatThrownBy(() -> fixture.engine.creator().plan(request("two", 1L << 30)))
          .isInstanceOf(InvalidRequest.class);
      assertThat(fixture.engine.creator().create(request("three", 2000)).view().state())
          .isEqualTo(SandboxState.RUNNING);
    }
  }
}
