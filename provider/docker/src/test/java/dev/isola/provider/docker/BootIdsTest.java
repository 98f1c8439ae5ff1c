package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.codec.time.Deadline;
import dev.isola.host.launch.ContainerBootIds;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ProviderUnavailable;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A boot id that cannot be mounted is an error where it is declared, and ignored elsewhere. */
final class BootIdsTest {
  private static final SandboxId ID = new SandboxId("abc");

  @TempDir Path folder;

  private final AtomicInteger refusals = new AtomicInteger();

  private BootIds bootIds(boolean hostSockets, boolean privileged) {
    return new BootIds(
        hostSockets, privileged, folder, new InstanceId("bootids"), refusals::incrementAndGet);
  }

  private static Deadline deadline() {
    return Deadline.in(Duration.ofSeconds(20));
  }

  @Test
  void nothingIsMountedWithoutAccess() {
    for (boolean privileged : new boolean[] {false, true}) {
      try (BootIds remote = bootIds(false, privileged)) {
        remote.prepare();
        remote.mount(ID, folder.resolve("missing"), deadline());
        assertThat(remote.prerequisite().present()).isFalse();
      }
    }
    try (BootIds ordinary = bootIds(true, false)) {
      ordinary.mount(ID, folder.resolve("missing"), deadline());
      assertThat(ordinary.prerequisite().present()).isFalse();
      assertThat(ordinary.prerequisite().detail()).contains("the server is not root");
    }
    assertThat(folder).as("no launcher is installed").isEmptyDirectory();
  }

  @Test
  void declaredBootIdThatCannotBeMountedIsAnError() {
    Assumptions.assumeTrue(ContainerBootIds.available(), "NOT RUN: needs root");
    try (BootIds local = bootIds(true, true)) {
      assertThat(local.prerequisite().present()).isTrue();
      assertThatThrownBy(() -> local.mount(ID, folder.resolve("missing"), deadline()))
          .isInstanceOf(ProviderUnavailable.class)
          .hasMessageContaining("cannot be given its own boot id");
      assertThat(local.prerequisite().present()).isTrue();
      assertThat(refusals).hasValue(0);
    }
  }

  @Test
  void refusedBootIdIsNoLongerDeclared() throws IOException {
    Assumptions.assumeTrue(ContainerBootIds.available(), "NOT RUN: needs root");
    Path socket = folder.resolve("agent");
    try (BootIds local = bootIds(true, true);
        ServerSocketChannel own = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      own.bind(UnixDomainSocketAddress.of(socket)); // This process is not in a container.
      local.mount(ID, socket, deadline());
      local.mount(ID, socket, deadline());
      assertThat(refusals).hasValue(1);
      assertThat(local.prerequisite().present()).isFalse();
      assertThat(local.prerequisite().detail()).contains("not in a container");
    }
  }
}
