package dev.isola.host.image;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.LimitExceeded;
import org.junit.jupiter.api.Test;

class BudgetTest {
  /** Names and attributes of an image are in memory, and an archive can have any number of them. */
  @Test
  void namesAndAttributesAreLimited() {
    Budget budget = new Budget(ImageLimits.DEFAULT);
    long attribute = 1 << 20;
    long fits = Budget.MAX_TEXT / (2 * attribute);
    for (long i = 0; i < fits; i++) {
      budget.takeText(attribute);
    }
    assertThatThrownBy(
            () -> {
              for (long i = 0; i <= fits; i++) {
                budget.takeText(attribute);
              }
            })
        .isInstanceOf(LimitExceeded.class)
        .hasMessageContaining("names of the files of the image");
  }
}
