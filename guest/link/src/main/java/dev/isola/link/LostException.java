package dev.isola.link;

import java.io.IOException;

/** Says that a connection was lost before it was greeted. */
final class LostException extends IOException {
  private static final long serialVersionUID = 1L;

  private final transient Loss loss;

  LostException(Loss loss) {
    super(loss.why());
    this.loss = loss;
  }

  Loss loss() {
    return loss;
  }
}
