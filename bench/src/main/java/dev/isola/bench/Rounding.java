package dev.isola.bench;

import java.math.BigDecimal;
import java.math.RoundingMode;

/** Rounds numbers for display: few digits, never an exponent. */
final class Rounding {
  private Rounding() {}

  static BigDecimal of(double value, int digits) {
    BigDecimal rounded =
        BigDecimal.valueOf(value).setScale(digits, RoundingMode.HALF_UP).stripTrailingZeros();
    return rounded.scale() < 0 ? rounded.setScale(0) : rounded;
  }
}
