package dev.isola.engine.wrong;

import dev.isola.testing.provider.TestProviderFactory;

/** Breaks the rule that no part of the product knows the doubles of the tests. */
final class TestProviderUser {
  Class<?> arrow() {
    return TestProviderFactory.class;
  }
}
