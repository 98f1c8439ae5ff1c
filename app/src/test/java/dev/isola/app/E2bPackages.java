package dev.isola.app;

import dev.isola.testing.program.ClientPackages;
import java.io.IOException;
import java.nio.file.Path;

/** E2B's published SDKs. */
public final class E2bPackages {
  static final Path NODE = Path.of("target/e2b").toAbsolutePath();
  private static final Path PYTHON = Path.of("target/e2b-python").toAbsolutePath();

  private E2bPackages() {}

  /** Returns a Python interpreter that has the SDK in the pinned version. */
  public static Path python() throws IOException, InterruptedException {
    return ClientPackages.python(E2bSdkFixture.PROGRAMS.resolve("python/requirements.txt"), PYTHON);
  }

  /** Returns a {@code node_modules} folder with the SDK in the locked version. */
  public static Path nodeModules() throws IOException, InterruptedException {
    return ClientPackages.nodeModules(E2bSdkFixture.PROGRAMS, NODE);
  }
}
