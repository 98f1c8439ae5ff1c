package dev.isola.provider.bubblewrap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.conformance.CheckResult;
import dev.isola.conformance.CheckResult.Outcome;
import dev.isola.conformance.CheckRunner;
import dev.isola.conformance.LeakCheck;
import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.kit.ConformanceKit;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Volumes;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Positive control of the kit for volumes: it detects a destroy that keeps the volume. */
@Tag("all")
class PlantedVolumeFaultTest {
  @TempDir Path data;

  /** Creates a bubblewrap provider whose volumes survive their destruction. */
  private static final class RetainingVolumesFactory implements ProviderFactory {
    private final ProviderFactory bubblewrap = new BubblewrapProviderFactory();

    @Override
    public String name() {
      return bubblewrap.name();
    }

    @Override
    public ProviderProfile profile() {
      return bubblewrap.profile();
    }

    @Override
    public Provider create(ProviderConfig config, ProviderContext context) {
      Provider real = bubblewrap.create(config, context);
      return (Provider)
          Proxy.newProxyInstance(
              Provider.class.getClassLoader(),
              new Class<?>[] {Provider.class},
              (proxy, method, arguments) -> {
                if (method.getName().equals("volumes")) {
                  return real.volumes().map(RetainedVolumes::new);
                }
                try {
                  return method.invoke(real, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getTargetException();
                }
              });
    }
  }

  private record RetainedVolumes(Volumes real) implements Volumes {
    @Override
    public void create(String name) {
      real.create(name);
    }

    @Override
    public List<String> list() {
      return real.list();
    }

    @Override
    public void destroy(String name) {
      // The planted fault.
    }
  }

  private Optional<CheckResult> firstFailure(ProviderFactory factory, Path folder) {
    ProviderUnderTest underTest =
        new ProviderUnderTest(
            factory,
            new ProviderConfig(Map.of()),
            new InstanceId(SandboxId.random(new SecureRandom()).value()),
            folder);
    try (CheckRunner runner = new CheckRunner(underTest, LeakCheck.NONE)) {
      List<CheckResult> results =
          ConformanceKit.checks("Volumes").stream().map(runner::run).toList();
      Assumptions.assumeTrue(
          results.stream().anyMatch(one -> one.outcome() != Outcome.NOT_RUN),
          () -> "NOT RUN: " + results.getFirst().reason());
      return results.stream().filter(one -> one.outcome() == Outcome.FAILED).findFirst();
    }
  }

  @Test
  void kitDetectsAVolumeThatIsNotDestroyed() throws IOException {
    assertThat(
            firstFailure(
                new BubblewrapProviderFactory(), Files.createDirectory(data.resolve("real"))))
        .isEmpty();
    assertThat(
            firstFailure(
                new RetainingVolumesFactory(), Files.createDirectory(data.resolve("faulty"))))
        .isPresent();
  }
}
