package dev.isola.link;

/** Attaches to an existing execution. */
final class AttachRequest {
  /**
   * Output buffered for a reader that does not keep up. Smaller than for the initial stream: many
   * readers may be attached, and most of them only observe.
   */
  private static final int WINDOW = 256 * 1024;

  private AttachRequest() {}

  /** Attaches at {@code offset} and consumes the response. */
  static LinkStream open(AgentClient client, long execution, long offset) {
    LinkStream stream = send(client, execution, offset);
    stream.awaitResponse(client.timeouts().responseTimeout());
    return stream;
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
