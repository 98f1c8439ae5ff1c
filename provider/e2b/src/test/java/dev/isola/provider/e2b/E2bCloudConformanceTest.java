package dev.isola.provider.e2b;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.UniqueResources;
import dev.isola.conformance.junit.ConformanceTest;
import dev.isola.spi.provider.ProviderConfig;
import java.nio.file.Files;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** The conformance kit on E2B's cloud, which costs money: runs only on request and with a key. */
final class E2bCloudConformanceTest extends ConformanceTest {
  @Override
  protected ProviderUnderTest underTest() throws Exception {
    Assumptions.assumeTrue(
        Boolean.getBoolean("isola.e2b.cloud"), "NOT RUN: ask with -Disola.e2b.cloud=true");
    Assumptions.assumeTrue(
        Optional.ofNullable(System.getenv("E2B_API_KEY")).isPresent(),
        "NOT RUN: there is no E2B_API_KEY");
    return new ProviderUnderTest(
        new E2bProviderFactory(),
        ProviderConfig.EMPTY,
        UniqueResources.instanceId("e2bcloud"),
        Files.createTempDirectory("isola"));
  }
}
