package dev.isola.app;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.host.image.ImageStore;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.provider.e2b.E2bProviderFactory;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.ProviderConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;

/**
 * B8: runs the conformance kit on the provider {@code e2b}, whose backend is an Isola server with
 * bubblewrap in this JVM. {@code ./check --long} runs all classes.
 */
@Tag("all")
final class E2bConformanceTest extends ConformanceTest {
  private static final Path SMALL_ROOT = Path.of("../testing/e2b/small-root.sh").toAbsolutePath();

  private @Nullable LiveServer server;
  private @Nullable Path folder;

  @Override
  protected ProviderUnderTest underTest() throws IOException, InterruptedException {
    boolean root = Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    Assumptions.assumeTrue(root, "NOT RUN: only root gives a sandbox users of its own here");
    Path all = Files.createTempDirectory("isola");
    folder = all;
    Path image = all.resolve("root");
    int made =
        new ProcessBuilder(SMALL_ROOT.toString(), image.toString())
            .redirectErrorStream(true)
            .redirectOutput(all.resolve("small-root.log").toFile())
            .start()
            .waitFor();
    Assumptions.assumeTrue(made == 0, "NOT RUN: the tools of a template are not here");
    Path data = Files.createDirectory(all.resolve("data"));
    new ImageStore(data).importFrom("base", image);
    LiveServer live = LiveServer.start(data, new BubblewrapProviderFactory());
    server = live;
    return new ProviderUnderTest(
        new E2bProviderFactory(),
        new ProviderConfig(
            Map.of("api_key", LiveServer.KEY, "api_url", live.url, "sandbox_url", live.url)),
        new InstanceId("e2bconformance"),
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
    return unlessLong("Recovery", "Watch");
  }
}
