package dev.isola.provider.http;

import dev.isola.conformance.ProviderUnderTest;
import dev.isola.conformance.junit.ConformanceTest;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;

/**
 * Runs the conformance kit on a reference backend, a real process. {@code ./check} runs a part of
 * the kit, {@code ./check --long} all of it.
 */
abstract class BackendConformanceTest extends ConformanceTest {
  private @Nullable BackendProcess backend;

  /** Returns the command line of the backend; skips the tests if a program is missing. */
  abstract List<String> program() throws Exception;

  @Override
  protected final ProviderUnderTest underTest() throws Exception {
    BackendProcess started = BackendProcess.start(program());
    backend = started;
    try {
      return started.underTest(getClass().getSimpleName().toLowerCase(java.util.Locale.ROOT));
    } catch (IOException e) {
      started.close();
      throw e;
    }
  }

  @AfterAll
  final void stop() {
    if (backend != null) {
      backend.close();
    }
  }

  @Override
  protected List<String> groups() {
    return unlessLong("SecretEnv", "Honesty", "Recovery");
  }
}
