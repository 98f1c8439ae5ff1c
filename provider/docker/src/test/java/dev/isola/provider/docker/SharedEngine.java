package dev.isola.provider.docker;

import dev.isola.provider.docker.http.EngineHttp;
import dev.isola.testing.engine.TestContainerEngine;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** One Docker engine with user remapping, shared by all test classes of a JVM. */
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

  /** Skips the test if the machine cannot run such an engine. */
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

  /** Returns a client of the engine. */
  static EngineApi client() {
    return client(host());
  }

  static EngineApi client(String host) {
    return new EngineApi(new EngineHttp(EngineAddressResolver.parse(host)));
  }
}
