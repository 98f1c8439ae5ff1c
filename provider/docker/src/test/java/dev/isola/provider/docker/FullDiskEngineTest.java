package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.UniqueResources;
import dev.isola.host.image.ImageStore;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.testing.engine.TestContainerEngine;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A real engine whose disk is full, and then read-only. */
@Timeout(180)
class FullDiskEngineTest {
  private static final long DISK = 16 << 20;
  private static final int LARGER = 24 << 20;

  private static void makeImage(Path shared) throws IOException {
    try (TemporaryFolder root = TemporaryFolder.create("isola-root")) {
      try (OutputStream out = Files.newOutputStream(root.path().resolve("large"))) {
        out.write(new byte[LARGER]);
      }
      new ImageStore(shared).importFrom("large", root.path());
    }
  }

  private static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(SandboxId.random(new SecureRandom()))
        .deadline(Duration.ofMinutes(5));
  }

  @Test
  void fullDiskIsReportedAndOtherSandboxesContinue() throws IOException, InterruptedException {
    SharedEngine.need(TestContainerEngine.Kind.DOCKER);
    try (TestContainerEngine own = TestContainerEngine.dockerWithDiskLimit(DISK);
        TemporaryFolder data = TemporaryFolder.create("isola-");
        Provider provider =
            new DockerProviderFactory()
                .create(
                    new ProviderConfig(Map.of("host", own.host())),
                    new ProviderContext(
                        UniqueResources.instanceId("full"), data.path(), InstantSource.system()))) {
      Sandbox sandbox = provider.create(spec().build());
      makeImage(data.path());
      assertThatThrownBy(() -> provider.create(spec().image("large").build()))
          .isInstanceOfSatisfying(
              SandboxException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DISK_FULL))
          .hasMessageContaining("no space left");
      assertThat(sandbox.run(Command.shell("echo on")).stdout().text()).isEqualTo("on\n");
      own.makeDiskReadOnly();
      assertThatThrownBy(() -> provider.create(spec().build()))
          .isInstanceOf(SandboxException.class)
          .hasMessageContaining("read-only file system");
      assertThat(sandbox.run(Command.shell("echo still")).stdout().text()).isEqualTo("still\n");
      assertThat(provider.inventory()).extracting(seen -> seen.id()).contains(sandbox.id());
      assertThatThrownBy(() -> provider.destroy(sandbox.id(), DestroyOptions.FORCE))
          .as("a failed removal is not reported as success")
          .isInstanceOf(SandboxException.class);
    }
  }
}
