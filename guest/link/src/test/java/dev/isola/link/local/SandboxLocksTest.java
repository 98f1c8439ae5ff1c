package dev.isola.link.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.SandboxId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class SandboxLocksTest {
  private static final SandboxId ONE = new SandboxId("one");
  private final SandboxLocks turns = new SandboxLocks();
  private final List<String> done = new ArrayList<>();

  @Test
  void tryWithLockSkipsAHeldLock() {
    turns.withLock(
        ONE,
        () -> {
          turns.tryWithLock(ONE, () -> done.add("taken"));
          turns.tryWithLock(new SandboxId("two"), () -> done.add("another"));
          return ONE;
        });
    turns.tryWithLock(ONE, () -> done.add("free"));
    turns.tryWithLock(ONE, () -> done.add("free again"));
    assertThat(done).containsExactly("another", "free", "free again");
  }

  @Test
  void withLockWaitsForTheHolder() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    List<String> order = java.util.Collections.synchronizedList(new ArrayList<>());
    Thread[] later = new Thread[1];
    turns.tryWithLock(
        ONE,
        () -> {
          later[0] =
              Thread.ofVirtual()
                  .start(
                      () -> {
                        begun.countDown();
                        turns.withLock(ONE, () -> order.add("second"));
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
