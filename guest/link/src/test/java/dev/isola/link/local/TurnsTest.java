package dev.isola.link.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.SandboxId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class TurnsTest {
  private static final SandboxId ONE = new SandboxId("one");
  private final Turns turns = new Turns();
  private final List<String> done = new ArrayList<>();

  @Test
  void aTurnThatIsTakenIsNotWaitedForByWhoOnlyWantsAFreeOne() {
    turns.take(
        ONE,
        () -> {
          turns.takeIfFree(ONE, () -> done.add("taken"));
          turns.takeIfFree(new SandboxId("two"), () -> done.add("another"));
          return ONE;
        });
    turns.takeIfFree(ONE, () -> done.add("free"));
    turns.takeIfFree(ONE, () -> done.add("free again"));
    assertThat(done).containsExactly("another", "free", "free again");
  }

  @Test
  void whoComesMeanwhileWaits() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    List<String> order = java.util.Collections.synchronizedList(new ArrayList<>());
    Thread[] later = new Thread[1];
    turns.takeIfFree(
        ONE,
        () -> {
          later[0] =
              Thread.ofVirtual()
                  .start(
                      () -> {
                        begun.countDown();
                        turns.take(ONE, () -> order.add("second"));
                      });
          try {
            begun.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          order.add("first");
        });
    later[0].join();
    assertThat(order).containsExactly("first", "second");
  }
}
