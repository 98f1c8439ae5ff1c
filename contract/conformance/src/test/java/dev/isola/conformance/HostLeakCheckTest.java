package dev.isola.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostLeakCheckTest {
  @TempDir Path data;

  /** The leak check uses only the instance id and the data folder. */
  private static final class Unused implements ProviderFactory {
    @Override
    public String name() {
      return "unused";
    }

    @Override
    public Provider create(ProviderConfig config, ProviderContext context) {
      throw new AssertionError("not asked for");
    }
  }

  private ProviderUnderTest underTest() {
    return new ProviderUnderTest(
        new Unused(), ProviderConfig.EMPTY, new InstanceId("leakwatchtest"), data);
  }

  @BeforeEach
  void warmUpTheJvm() throws IOException {
    SocketChannel.open(StandardProtocolFamily.UNIX).close();
  }

  @Test
  void reportsNothingWithoutALeak() {
    HostLeakCheck watch = HostLeakCheck.of(underTest());
    watch.before();
    assertThat(watch.after()).isEmpty();
  }

  @Test
  void reportsALeakOnlyOnce() throws IOException {
    HostLeakCheck watch = HostLeakCheck.of(underTest());
    watch.before();
    Path folder = Files.createDirectories(data.resolve("sandboxes/left"));
    assertThat(watch.after()).contains("folder " + folder);
    watch.before();
    assertThat(watch.after()).isEmpty();
  }

  @Test
  void allowsALimitedNumberOfConnections() throws IOException {
    HostLeakCheck watch = HostLeakCheck.allowing(underTest(), 1);
    try (SocketChannel kept = leak(watch)) {
      assertThat(kept.isOpen()).isTrue();
      assertThat(watch.after()).isEmpty();
      try (SocketChannel lost = leak(watch)) {
        assertThat(lost.isOpen()).isTrue();
        assertThat(watch.after()).hasValueSatisfying(said -> assertThat(said).contains("sockets"));
      }
    }
  }

  private static SocketChannel leak(HostLeakCheck watch) throws IOException {
    watch.before();
    return SocketChannel.open(StandardProtocolFamily.UNIX);
  }
}
