package dev.isola.engine.admission;

import dev.isola.spi.spec.ResourceLimits;
import java.math.BigDecimal;

/**
 * Memory and processor time.
 *
 * @param milliCpu thousandths of a processor: whole numbers, because what is taken and given back a
 *     million times must come out even
 */
public record Resources(long memoryMb, long milliCpu) {
  public static final Resources NONE = new Resources(0, 0);

  /** More than any machine has, and little enough to be added up. */
  public static final long UNLIMITED = 1L << 50;

  public static Resources of(double cpu, long memoryMb) {
    return new Resources(memoryMb, (long) Math.ceil(cpu * 1000));
  }

  /** Returns what a sandbox with these limits is promised. */
  public static Resources of(ResourceLimits limits) {
    return of(limits.cpu(), limits.memoryMb());
  }

  Resources plus(Resources more) {
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
