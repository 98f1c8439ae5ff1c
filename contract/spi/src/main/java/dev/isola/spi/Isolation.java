package dev.isola.spi;

/**
 * Isolation levels, weakest first. A client may require a minimum level, called the floor; {@code
 * compareTo} defines the order.
 */
public enum Isolation {
  /** No isolation: commands are host processes with the privileges of their user. */
  PROCESS,
  /** Namespaces of the host kernel. */
  CONTAINER,
  /** A separate kernel in user space, such as gVisor. */
  KERNEL,
  /** A virtual machine. */
  VM;

  public boolean isAtLeast(Isolation floor) {
    return compareTo(floor) >= 0;
  }
}
