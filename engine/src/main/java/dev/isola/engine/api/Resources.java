package dev.isola.engine.api;

import dev.isola.spi.spec.ResourceLimits;
import java.math.BigDecimal;

/**
 * Memory, CPU and disk space.
 *
 * @param milliCpu thousandths of a CPU. An integer, so that repeated addition and subtraction stay
 *     exact.
 * @param diskMb a disk limit; the space that is free decides about it, and never the sum
 */
public record Resources(long memoryMb, long milliCpu, long diskMb) {
  public static final Resources NONE = new Resources(0, 0);

  /** Larger than any machine, and small enough that sums do not overflow. */
  public static final long UNLIMITED = 1L << 50;

  /** Creates resources without disk space. */
  public Resources(long memoryMb, long milliCpu) {
    this(memoryMb, milliCpu, 0);
  }

  public static Resources of(double cpu, long memoryMb) {
    return new Resources(memoryMb, (long) Math.ceil(cpu * 1000));
  }

  /** Returns the resources to reserve for a sandbox with these limits. */
  public static Resources of(ResourceLimits limits) {
    Resources reserved = of(limits.cpu(), limits.memoryMb());
    return new Resources(reserved.memoryMb, reserved.milliCpu, limits.diskMb());
  }

  public Resources plus(Resources more) {
    return new Resources(memoryMb + more.memoryMb, milliCpu + more.milliCpu, diskMb + more.diskMb);
  }

  public Resources minus(Resources less) {
    return new Resources(memoryMb - less.memoryMb, milliCpu - less.milliCpu, diskMb - less.diskMb);
  }

  public boolean fitsIn(Resources room) {
    return memoryMb <= room.memoryMb && milliCpu <= room.milliCpu;
  }

  public String cpu() {
    return BigDecimal.valueOf(milliCpu, 3).stripTrailingZeros().toPlainString();
  }

  @Override
  public String toString() {
    return (memoryMb >= UNLIMITED / 2 ? "any memory" : memoryMb + " MB")
        + " and "
        + (milliCpu >= UNLIMITED / 2 ? "any cpu" : cpu() + " cpu");
  }
}
