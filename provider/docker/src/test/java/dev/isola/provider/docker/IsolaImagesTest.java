package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.UniqueResources;
import dev.isola.host.image.ImageStore;
import dev.isola.host.launch.HostProgram;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Pausing;
import dev.isola.spi.capability.Pausing.PauseKind;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Isola's own images in an engine that does not have them. */
@Timeout(120)
@ExtendWith(SharedEngine.class)
class IsolaImagesTest {
  private static final int OWNER = 1234;
  private static final int LARGE = 24 << 20;

  /** Creates an image named {@code small} with a shell, a file of another user and a large file. */
  private static void makeImage(Path shared) throws IOException {
    Optional<HostProgram> busybox = HostProgram.find("busybox");
    if (busybox.isEmpty()) {
      Assumptions.abort("NOT RUN: busybox is not installed");
    }
    try (TemporaryFolder root = TemporaryFolder.create("isola-root")) {
      Path bin = Files.createDirectory(root.path().resolve("bin"));
      Files.copy(busybox.get().path(), bin.resolve("busybox"));
      for (String name : new String[] {"sh", "cat", "stat", "head", "sleep"}) {
        Files.createSymbolicLink(bin.resolve(name), Path.of("busybox"));
      }
      Path owned = Files.writeString(root.path().resolve("owned"), "of Isola's\n");
      Files.setAttribute(owned, "unix:uid", OWNER);
      try (OutputStream out = Files.newOutputStream(root.path().resolve("large"))) {
        out.write(new byte[LARGE]);
      }
      new ImageStore(shared).importFrom("small", root.path());
    }
  }

  private static Provider provider(TemporaryFolder data) {
    return new DockerProviderFactory()
        .create(
            new ProviderConfig(Map.of("host", SharedEngine.host(), "pull", "never")),
            new ProviderContext(
                UniqueResources.instanceId("images"),
                data.path(),
                data.path(),
                InstantSource.system()));
  }

  private static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(SandboxId.random(new SecureRandom()))
        .deadline(Duration.ofMinutes(5))
        .image("small");
  }

  @Test
  void isolaImageIsImportedWithItsOwners() throws IOException {
    try (TemporaryFolder data = TemporaryFolder.create("isola-");
        Provider provider = provider(data)) {
      assertThatThrownBy(() -> provider.create(spec().build()))
          .as("before the creation")
          .isInstanceOfSatisfying(
              SandboxException.class,
              e -> assertThat(e.code()).isEqualTo(ErrorCode.IMAGE_NOT_FOUND));
      makeImage(data.path());
      Sandbox sandbox = provider.create(spec().build());
      assertThat(sandbox.run(Command.shell("cat /owned; stat -c %u /owned")).stdout().text())
          .isEqualTo("of Isola's\n" + OWNER + "\n");
      Sandbox second = provider.create(spec().build());
      assertThat(second.run(Command.argv("/bin/stat", "-c", "%s", "/large")).stdout().text())
          .isEqualTo(LARGE + "\n");
      provider.destroy(sandbox.id(), DestroyOptions.FORCE);
      provider.destroy(second.id(), DestroyOptions.FORCE);
    }
  }

  /**
   * The image's 24 MB do not count; written data does, including data from before the last boot.
   */
  @Test
  void diskUsageSurvivesAStop() throws IOException {
    try (TemporaryFolder data = TemporaryFolder.create("isola-");
        Provider provider = provider(data)) {
      makeImage(data.path());
      assertThat(provider.info().support().enforcedLimits())
          .as("the limit is not declared as enforced")
          .doesNotContain(LimitKind.DISK);
      Sandbox sandbox =
          provider.create(spec().limits(ResourceLimits.DEFAULT.withDiskMb(32)).build());
      ExecResult first = sandbox.run(Command.shell("head -c 20000000 /dev/zero > /first; sleep 2"));
      assertThat(first.succeeded()).as("20 MB fit into 32: %s", first).isTrue();
      Pausing pausing = sandbox.as(Pausing.class).orElseThrow();
      pausing.pause(PauseKind.FILESYSTEM);
      pausing.resume();
      ExecResult second =
          sandbox.run(Command.shell("head -c 20000000 /dev/zero > /second; sleep 20"));
      assertThat(second.succeeded()).as("40 MB do not: %s", second).isFalse();
      assertThat(second.limitsMet()).contains(LimitKind.DISK);
      provider.destroy(sandbox.id(), DestroyOptions.FORCE);
    }
  }
}
