package dev.isola.link;

import java.io.IOException;

/** Thrown when a connection is lost before the handshake completes. */
final class ConnectionLostException extends IOException {
  private static final long serialVersionUID = 1L;

  private final transient CloseReason reason;

  ConnectionLostException(CloseReason reason) {
    super(reason.message());
    this.reason = reason;
  }

  CloseReason reason() {
    return reason;
  }
}
