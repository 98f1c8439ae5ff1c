package dev.isola.compat.e2b.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.spi.Destroy;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.Category;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** E1: a build step that fails is an error of the client that sent it. */
class StepsTest {
  private static final SandboxId ID = new SandboxId("buildsteps");
  private static final Template FROM =
      new Template(
          "here",
          List.of(),
          Optional.empty(),
          Map.of(),
          System.getProperty("user.name"),
          ".",
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          "",
          Instant.EPOCH);

  private Provider provider;
  private Steps steps;

  @BeforeEach
  void open(@TempDir Path folder) {
    provider =
        new SubprocessProviderFactory()
            .create(
                new ProviderConfig(Map.of()),
                new ProviderContext(new InstanceId("steps"), folder, InstantSource.system()));
    Sandbox sandbox = provider.create(SandboxSpec.builder(ID).build());
    steps =
        new Steps(
            sandbox,
            FROM,
            new BuildLog(InstantSource.system()),
            hash -> InputStream.nullInputStream());
  }

  @AfterEach
  void close() {
    provider.destroy(ID, Destroy.FORCE);
    provider.close();
  }

  private SandboxException failure(String type, String... args) {
    return catchThrowableOfType(
        SandboxException.class,
        () -> steps.run(new Step(type, List.of(args), Optional.empty()), 1));
  }

  @Test
  void failingStepIsTheClientsAndSaysExitCodeAndOutput() {
    SandboxException e = failure("RUN", "echo to stdout; echo to stderr >&2; exit 7");
    assertThat(e.code()).isEqualTo(ErrorCode.BUILD_FAILED);
    assertThat(e.category()).isEqualTo(Category.CALLER);
    assertThat(e.context()).containsEntry("exitCode", "7");
    assertThat(e.context().get("output")).contains("to stdout\n", "to stderr\n");
  }

  @Test
  void outputInTheErrorIsBoundedAndItsEnd() {
    SandboxException e = failure("RUN", "head -c 100000 /dev/zero | tr '\\0' x; echo last; exit 1");
    assertThat(e.context().get("output")).hasSize(2048).endsWith("last\n");
  }

  @Test
  void copyWithoutFilesIsTheClients() {
    assertThat(failure("COPY", ".", ".").code()).isEqualTo(ErrorCode.BUILD_FAILED);
  }
}
