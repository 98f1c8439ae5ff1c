package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.testing.fake.FakeProvider;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Responses name a provider as the operator configured it. */
class MicrovmNameTest {
  @TempDir Path folder;

  @Test
  void missingProviderIsReportedUnderItsConfiguredName() {
    CommandLineFixture isola =
        new CommandLineFixture(folder.resolve("data"), new FakeProvider("bubblewrap"));
    isola.env.put("SANDBOX_PROVIDER", "local_microvm");
    CommandResult run = isola.call("run", "true");
    assertThat(run.code()).isNotZero();
    assertThat(run.err()).contains("'local_microvm'").doesNotContain("microvmctl");
  }
}
