package dev.isola.engine.admission;

import dev.isola.spi.spec.ResourceLimits;
import java.math.BigDecimal;

/**
 * Memory and CPU.
 *
 * @param milliCpu thousandths of a CPU. An integer, so that repeated addition and subtraction stay
 *     exact.
 */
public record Resources(long memoryMb, long milliCpu) {
  public static final Resources NONE = new Resources(0, 0);

  /** Larger than any machine, and small enough that sums do not overflow. */
  public static final long UNLIMITED = 1L << 50;

  public static Resources of(double cpu, long memoryMb) {
    return new Resources(memoryMb, (long) Math.ceil(cpu * 1000));
  }

  /** Returns the resources to reserve for a sandbox with these limits. */
  public static Resources of(ResourceLimits limits) {
    return of(limits.cpu(), limits.memoryMb());
  }

  public Resources plus(Resources more) {
    return new Resources(memoryMb + more.memoryMb, milliCpu + more.milliCpu);
  }

  Resources minus(Resources less) {
    return new Resources(memoryMb - less.memoryMb, milliCpu - less.milliCpu);
  }

  boolean fitsIn(Resources room) {
    return memoryMb <= room.memoryMb && milliCpu <= room.milliCpu;
  }

  String cpu() {
    return BigDecimal.valueOf(milliCpu, 3).stripTrailingZeros().toPlainString();
  }

  @Override
  public String toString() {
    return (memoryMb >= UNLIMITED / 2 ? "any memory" : memoryMb + " MB")
        + " and "
        + (milliCpu >= UNLIMITED / 2 ? "any cpu" : cpu() + " cpu");
  }
}
