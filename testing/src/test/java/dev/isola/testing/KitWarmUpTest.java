package dev.isola.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.CheckCase;
import dev.isola.conformance.CheckRunner;
import dev.isola.conformance.LeakCheck;
import dev.isola.conformance.ProviderUnderTest;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.testing.fake.FakeProvider;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The descriptors that a JVM opens with its first sandbox must not count as leaks. */
final class KitWarmUpTest {
  @TempDir Path data;

  @Test
  void aSandboxIsUsedBeforeTheFirstCount() {
    FakeProvider provider = new FakeProvider("fake");
    List<Integer> commandsAtCount = new ArrayList<>();
    LeakCheck leaks =
        new LeakCheck() {
          @Override
          public void before() {
            commandsAtCount.add(provider.made);
          }

          @Override
          public Optional<String> after() {
            return Optional.empty();
          }
        };
    CheckCase check =
        new CheckCase("Group", "check", "P14", List.of(), List.of(), List.of(), context -> {});
    try (CheckRunner runner =
        new CheckRunner(
            new ProviderUnderTest(provider, ProviderConfig.EMPTY, new InstanceId("kit"), data),
            leaks)) {
      runner.run(check);
      runner.run(check);
    }
    assertThat(commandsAtCount).as("sandboxes created").containsExactly(1, 1);
  }
}
