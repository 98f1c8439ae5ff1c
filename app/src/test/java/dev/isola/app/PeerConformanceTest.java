package dev.isola.app;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.provider.http.HttpProviderFactory;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/**
 * B9: runs the conformance kit on the provider {@code http}, whose backend is an Isola server with
 * bubblewrap in this JVM. {@code ./check --long} runs all classes.
 */
@Tag("all")
final class PeerConformanceTest extends ConformanceTest {
  private @Nullable LiveServer server;
  private @Nullable Path folder;

  @Override
  protected ProviderUnderTest underTest() throws IOException {
    Path data = Files.createTempDirectory("isola");
    folder = data;
    LiveServer live =
        LiveServer.start(
            data, new BubblewrapProviderFactory(), "allow_networks=none,filtered,bridge");
    server = live;
    return new ProviderUnderTest(
        new HttpProviderFactory(),
        new ProviderConfig(Map.of("url", live.url + "/backend", "key", LiveServer.KEY)),
        new InstanceId("peerconformance"),
        Files.createTempDirectory("isola"));
  }

  @AfterAll
  void stop() {
    if (server != null) {
      server.close();
    }
    if (folder != null) {
      TemporaryFolder.remove(folder);
    }
  }

  @Override
  protected List<String> groups() {
    return unlessLong("Lifecycle", "Idempotency", "Pausing", "Volumes");
  }
}
