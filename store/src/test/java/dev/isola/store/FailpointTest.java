package dev.isola.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class FailpointTest {
  /** Reaches one failpoint three times and another one once. */
  static final class Passer {
    private Passer() {}

    public static void main(String[] args) {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("an orderly end")));
      for (int i = 0; i < 3; i++) {
        System.out.println(i);
        Failpoint.CREATE_WRITTEN.reach();
      }
      Failpoint.END_WRITTEN.reach();
      System.out.println("through");
    }
  }

  private record Run(int status, List<String> lines) {}

  private static Run run(String... properties) throws IOException, InterruptedException {
    List<String> command = new java.util.ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(properties));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Passer.class.getName()));
    Process process = new ProcessBuilder(command).start();
    List<String> lines = process.inputReader().readAllLines();
    return new Run(process.waitFor(), lines);
  }

  @Test
  void processExitsAtTheNthReach() throws IOException, InterruptedException {
    assertThat(run("-Disola.failpoint=create.written:3"))
        .isEqualTo(new Run(Failpoint.STATUS, List.of("0", "1", "2")));
    assertThat(run("-Disola.failpoint=end.written"))
        .isEqualTo(new Run(Failpoint.STATUS, List.of("0", "1", "2")));
  }

  @Test
  void unarmedFailpointHasNoEffect() throws IOException, InterruptedException {
    assertThat(run().lines()).containsExactly("0", "1", "2", "through", "an orderly end");
    assertThat(run("-Disola.failpoint=create.written:4").status()).isZero();
  }

  @Test
  void unknownFailpointIsRejected() throws IOException, InterruptedException {
    assertThat(run("-Disola.failpoint=create.wirtten").status()).isEqualTo(1);
  }

  @Test
  void namesAreUnique() {
    assertThat(Failpoint.values()).hasSizeGreaterThanOrEqualTo(30);
    assertThat(Failpoint.values()).extracting(Failpoint::toString).doesNotHaveDuplicates();
    assertThat(Failpoint.CREATE_FAILURE_WRITTEN).hasToString("create.failure-written");
  }
}
