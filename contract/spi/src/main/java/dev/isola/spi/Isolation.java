package dev.isola.spi;

/**
 * How strong the wall is, weakest first. A caller may require a floor; {@code compareTo} is the
 * order.
 */
public enum Isolation {
  /** None: the command is a process of the host with the rights of its user. */
  PROCESS,
  /** Namespaces of the host's kernel. */
  CONTAINER,
  /** A kernel of its own in user space, such as gVisor. */
  KERNEL,
  /** A virtual machine. */
  VM;

  public boolean isAtLeast(Isolation floor) {
    return compareTo(floor) >= 0;
  }
}
