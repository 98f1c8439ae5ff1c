package dev.isola.link;

import dev.isola.spi.error.ProviderUnavailable;

/** Attaches to an existing execution. */
final class AttachRequest {
  /**
   * Output buffered for a reader that does not keep up. Smaller than for the initial stream: many
   * readers may be attached, and most of them only observe.
   */
  private static final int WINDOW = 256 * 1024;

  private static final int MAX_ATTEMPTS = 10;

  private AttachRequest() {}

  /**
   * Attaches at {@code offset} and consumes the response. Tries again if the connection is lost
   * meanwhile, because attaching changes nothing: the sandbox may be held at any moment.
   */
  static LinkStream open(AgentClient client, long execution, long offset) {
    for (int attempt = 1; ; attempt++) {
      LinkStream stream = send(client, execution, offset);
      try {
        stream.awaitResponse(client.timeouts().responseTimeout());
        return stream;
      } catch (ProviderUnavailable e) {
        CloseReason lost = stream.closeReason();
        if (lost == null || !lost.isRecoverable() || attempt == MAX_ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  /** Attaches at {@code offset}; the caller reads the response. */
  static LinkStream send(AgentClient client, long execution, long offset) {
    WireFieldsBuilder request =
        new WireFieldsBuilder(AgentOperation.ATTACH)
            .add(FieldTag.EXECUTION, execution)
            .add(FieldTag.OFFSET, offset);
    return client.open(AgentOperation.ATTACH, request, WINDOW);
  }
}
