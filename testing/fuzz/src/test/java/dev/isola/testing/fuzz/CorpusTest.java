package dev.isola.testing.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Runs every target on the inputs that are kept: one for each kind of message, and past findings.
 */
class CorpusTest {
  @TestFactory
  Stream<DynamicTest> inputsOfTheCorpusHold() {
    return Arrays.stream(FuzzTarget.values())
        .map(
            target ->
                DynamicTest.dynamicTest(
                    target.name(),
                    () -> {
                      assertThat(target.inputs()).isNotEmpty();
                      for (Path input : target.inputs()) {
                        run(target, input);
                      }
                    }));
  }

  private static void run(FuzzTarget target, Path input) throws Exception {
    try {
      target.run(Files.readAllBytes(input));
    } catch (Exception | Error e) {
      throw new AssertionError(target + " fails on " + input.getFileName() + ": " + e, e);
    }
  }
}
