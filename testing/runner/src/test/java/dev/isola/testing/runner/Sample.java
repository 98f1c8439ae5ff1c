package dev.isola.testing.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.stream.Stream;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/** Tests with every outcome, which {@link TestSchedulerTest} runs in a process of their own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class Sample {
  @Test
  void passes() {
    System.out.println("a line of the test");
  }

  @Test
  void fails() {
    assertThat("one\ttwo").isEqualTo("one\nthree");
  }

  @Test
  void isAborted() {
    assumeTrue(false, "NOT RUN: not installed: nothing");
  }

  @Test
  @Disabled("switched off")
  void isDisabled() {}

  @Test
  @Tag("all")
  void isOfAnotherTier() {
    assertThat("it was run").isEmpty();
  }

  @TestFactory
  Stream<DynamicNode> factory() {
    return Stream.of(
        dynamicContainer(
            "group", Stream.of(dynamicTest("one", () -> assertThat("one").isNotEmpty()))));
  }

  /** A class whose process ends. */
  static final class EndingSample {
    @Test
    void endsItsProcess() {
      Runtime.getRuntime().halt(3);
    }
  }
}
