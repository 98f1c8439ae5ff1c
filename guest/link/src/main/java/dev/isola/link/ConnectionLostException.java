package dev.isola.link;

import java.io.IOException;

/** Thrown when a connection is lost before the handshake completes. */
final class ConnectionLostException extends IOException {
  private static final long serialVersionUID = 1L;

  private final transient CloseReason loss;

  ConnectionLostException(CloseReason loss) {
    super(loss.message());
    this.loss = loss;
  }

  CloseReason reason() {
    return loss;
  }
}
