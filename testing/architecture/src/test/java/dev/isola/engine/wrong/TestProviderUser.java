package dev.isola.engine.wrong;

import dev.isola.testing.provider.TestProviderFactory;

/** Violates the rule that production code does not use test doubles. */
final class TestProviderUser {
  Class<?> forbidden() {
    return TestProviderFactory.class;
  }
}
