package dev.isola.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.spec.Egress;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** G8: the limits of a sandbox. */
class TrafficBudgetTest {
  private static final OptionalLong NONE = OptionalLong.empty();

  private static OptionalLong of(long value) {
    return OptionalLong.of(value);
  }

  @Test
  void openConnectionsAreLimited() throws Exception {
    TrafficBudget budget = new TrafficBudget(new Egress.Limits(of(2), NONE, NONE, NONE));
    budget.openConnection();
    budget.openConnection();

    assertThatThrownBy(budget::openConnection)
        .isInstanceOf(Refusal.class)
        .hasMessageContaining("2 open connections");

    budget.closeConnection();
    budget.openConnection();
  }

  @Test
  void newConnectionsAreLimited() throws Exception {
    TrafficBudget budget = new TrafficBudget(new Egress.Limits(NONE, of(3), NONE, NONE));
    for (int i = 0; i < 3; i++) {
      budget.openConnection();
      budget.closeConnection();
    }

    assertThatThrownBy(budget::openConnection)
        .isInstanceOf(Refusal.class)
        .hasMessageContaining("more than 3 connections in a minute");
  }

  @Test
  void bytesOfTheWholeLifeAreLimited() throws Exception {
    TrafficBudget budget = new TrafficBudget(new Egress.Limits(NONE, NONE, NONE, of(100)));
    budget.spend(60);
    budget.spend(60);

    assertThatThrownBy(() -> budget.spend(1)).isInstanceOf(Refusal.class);
    assertThatThrownBy(budget::openConnection)
        .isInstanceOf(Refusal.class)
        .hasMessageContaining("120 bytes");
  }

  @Test
  void rateIsKeptByWaiting() throws Exception {
    TrafficBudget budget = new TrafficBudget(new Egress.Limits(NONE, NONE, of(100_000), NONE));
    long start = System.nanoTime();
    for (int i = 0; i < 3; i++) {
      budget.spend(10_000);
    }

    // Three tenths of a second's bytes cannot be faster, whatever the machine does.
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(250_000_000L);
  }

  @Test
  void limitsChangeWhileConnectionsAreOpen() throws Exception {
    TrafficBudget budget = new TrafficBudget(Egress.Limits.NONE);
    budget.openConnection();
    assertThat(budget.isUnlimited()).isTrue();

    budget.setLimits(new Egress.Limits(of(1), NONE, NONE, of(0)));

    assertThat(budget.isUnlimited()).isFalse();
    assertThatThrownBy(budget::openConnection).isInstanceOf(Refusal.class);
    assertThatThrownBy(() -> budget.spend(1)).isInstanceOf(Refusal.class);
  }

  @Test
  void smallerLimitApplies() {
    Egress.Limits spec = new Egress.Limits(of(10), NONE, of(5), NONE);
    Egress.Limits operator = new Egress.Limits(of(4), of(7), of(9), NONE);

    assertThat(spec.and(operator)).isEqualTo(new Egress.Limits(of(4), of(7), of(5), NONE));
  }
}
