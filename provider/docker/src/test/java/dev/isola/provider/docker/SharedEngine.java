package dev.isola.provider.docker;

import dev.isola.provider.docker.http.EngineHttp;
import dev.isola.testing.engine.TestContainerEngine;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** One Docker engine of the tests' own for all test classes of a JVM; it remaps users. */
final class SharedEngine implements BeforeAllCallback {
  private static final ExtensionContext.Namespace COMPLETE =
      ExtensionContext.Namespace.create(SharedEngine.class);

  private static @Nullable TestContainerEngine shared;

  @Override
  public void beforeAll(ExtensionContext context) {
    need(TestContainerEngine.Kind.DOCKER);
    shared =
        context
            .getRoot()
            .getStore(COMPLETE)
            .computeIfAbsent(
                TestContainerEngine.class,
                key -> TestContainerEngine.docker(true),
                TestContainerEngine.class);
  }

  /** Does not run the test where there can be no such engine. */
  static void need(TestContainerEngine.Kind kind) {
    kind.missing().ifPresent(why -> Assumptions.abort("NOT RUN: " + why));
  }

  static String host() {
    TestContainerEngine one = shared;
    if (one == null) {
      throw new IllegalStateException("the test class is not extended with SharedEngine");
    }
    return one.host();
  }

  /** Returns a client of it. */
  static EngineApi client() {
    return client(host());
  }

  static EngineApi client(String host) {
    return new EngineApi(new EngineHttp(EngineAddressResolver.parse(host)));
  }
}
