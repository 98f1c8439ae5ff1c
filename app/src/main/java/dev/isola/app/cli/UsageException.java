package dev.isola.app.cli;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;

/** Reports invalid usage of the command line. */
public final class UsageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Fault fault;

  public UsageException(String what, String remedy) {
    super(what);
    this.fault = Fault.of(ErrorCode.INVALID_REQUEST, what, remedy);
  }

  public Fault fault() {
    return fault;
  }
}
