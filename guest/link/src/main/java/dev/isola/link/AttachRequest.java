package dev.isola.link;

/** Opens the stream of an execution that runs already. */
final class AttachRequest {
  /**
   * How much of its output may wait here for one who does not read. Less than for who started it:
   * many may be attached, and most of them only look.
   */
  private static final int WINDOW = 256 * 1024;

  private AttachRequest() {}

  /** Attaches at {@code offset} and reads over the head. */
  static LinkStream open(AgentClient client, long execution, long offset) {
    LinkStream stream = send(client, execution, offset);
    stream.awaitResponse(client.timeouts().responseTimeout());
    return stream;
  }

  /** Attaches at {@code offset}; the head is still to be read. */
  static LinkStream send(AgentClient client, long execution, long offset) {
    WireFieldsBuilder request =
        new WireFieldsBuilder(AgentOperation.ATTACH)
            .add(FieldTag.EXECUTION, execution)
            .add(FieldTag.OFFSET, offset);
    return client.open(AgentOperation.ATTACH, request, WINDOW);
  }
}
