package dev.isola.provider.subprocess;

import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A provider in its own folder, with a check that nothing is left afterwards. */
abstract class SubprocessFixture {
  static final String INSTANCE = "testinstance";

  Path data;
  Provider provider;

  @BeforeEach
  void open() throws IOException {
    data = Files.createTempDirectory("isola-sp");
    provider = another();
  }

  @AfterEach
  void destroyAll() throws IOException {
    for (InventoryItem left : provider.inventory()) {
      provider.destroy(left.id(), DestroyOptions.FORCE);
    }
    provider.close();
    new SandboxFolder(data).remove();
  }

  /** Returns a second provider on the same folder, as a second process would have. */
  final Provider another() {
    return new SubprocessProviderFactory()
        .create(
            dev.isola.spi.provider.ProviderConfig.EMPTY,
            new ProviderContext(new InstanceId(INSTANCE), data, InstantSource.system()));
  }

  static SandboxSpec.Builder spec() {
    return SandboxSpec.builder(SandboxId.random(RandomGenerator.getDefault()))
        .deadline(Duration.ofMinutes(5));
  }

  final Sandbox create() {
    return create(builder -> builder);
  }

  final Sandbox create(UnaryOperator<SandboxSpec.Builder> with) {
    return provider.create(with.apply(spec()).build());
  }

  static boolean isRoot() {
    return ProcessUser.isRoot();
  }
}
