package dev.isola.engine.api.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Recipe;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.spi.DestroyOptions;
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
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** E1: a failed build step is an error of the client that sent it. */
class BuildStepRunnerTest {
  private static final SandboxId ID = new SandboxId("buildsteps");

  private Provider provider;
  private BuildStepRunner steps;

  @BeforeEach
  void open(@TempDir Path folder) {
    provider =
        new SubprocessProviderFactory()
            .create(
                new ProviderConfig(Map.of()),
                new ProviderContext(new InstanceId("steps"), folder, InstantSource.system()));
    Sandbox sandbox = provider.create(SandboxSpec.builder(ID).build());
    steps =
        new BuildStepRunner(
            sandbox,
            new BuildEnvironment(
                new Recipe.Defaults(
                    Map.of(),
                    System.getProperty("user.name"),
                    ".",
                    Optional.empty(),
                    Optional.empty())),
            new BuildLog(OutputStream.nullOutputStream(), InstantSource.system()),
            hash -> InputStream.nullInputStream());
  }

  @AfterEach
  void close() {
    provider.destroy(ID, DestroyOptions.FORCE);
    provider.close();
  }

  private SandboxException failure(BuildStep step) {
    return catchThrowableOfType(SandboxException.class, () -> steps.run(step, 3));
  }

  @Test
  void failedStepIsAClientErrorWithStepCommandExitCodeAndOutput() {
    SandboxException e = failure(new BuildStep.Run("echo to stdout; echo to stderr >&2; exit 7"));
    assertThat(e.code()).isEqualTo(ErrorCode.BUILD_FAILED);
    assertThat(e.category()).isEqualTo(Category.CALLER);
    assertThat(e.context()).containsEntry("exitCode", "7");
    assertThat(e.context().get("output")).contains("to stdout\n", "to stderr\n");
    assertThat(e.fault().problem()).contains("step 3", "exit 7", "exit code 7", "to stderr");
  }

  @Test
  void errorContainsOnlyTheTailOfTheOutput() {
    SandboxException e =
        failure(new BuildStep.Run("head -c 100000 /dev/zero | tr '\\0' x; echo last; exit 1"));
    assertThat(e.context().get("output")).hasSize(2048).endsWith("last\n");
  }
}
