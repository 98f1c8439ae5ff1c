package dev.isola.engine.secret;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;

/** Errors of the key for encrypted values. They name the key by its source or id. */
final class KeyFault {
  private KeyFault() {}

  static SandboxException of(String problem, String remedy) {
    return Fault.of(ErrorCode.INTERNAL, problem, remedy).exception();
  }
}
