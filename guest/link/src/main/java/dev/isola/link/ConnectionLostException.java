package dev.isola.link;

import java.io.IOException;

/** Says that a connection was lost before it was greeted. */
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
