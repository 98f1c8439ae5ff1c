package dev.isola.spi;

import static dev.isola.spi.Isolation.CONTAINER;
import static dev.isola.spi.Isolation.KERNEL;
import static dev.isola.spi.Isolation.PROCESS;
import static dev.isola.spi.Isolation.VM;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** O6: vm > kernel > container > process. */
class IsolationTest {
  private static final List<Isolation> WEAKEST_FIRST = List.of(PROCESS, CONTAINER, KERNEL, VM);

  @Test
  void isOrdered() {
    assertThat(Isolation.values()).containsExactlyElementsOf(WEAKEST_FIRST);
  }

  @Test
  void floorAdmitsEqualAndStrongerLevels() {
    for (int i = 0; i < WEAKEST_FIRST.size(); i++) {
      for (int j = 0; j < WEAKEST_FIRST.size(); j++) {
        assertThat(WEAKEST_FIRST.get(i).isAtLeast(WEAKEST_FIRST.get(j)))
            .as("%s at least %s", WEAKEST_FIRST.get(i), WEAKEST_FIRST.get(j))
            .isEqualTo(i >= j);
      }
    }
  }
}
