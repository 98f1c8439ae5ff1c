package dev.isola.link;

/** Opens the stream of an execution that runs already. */
final class Attach {
  /**
   * How much of its output may wait here for one who does not read. Less than for who started it:
   * many may be attached, and most of them only look.
   */
  private static final int WINDOW = 256 * 1024;

  private Attach() {}

  /** Attaches at {@code offset} and reads over the head. */
  static LinkStream open(AgentClient client, long execution, long offset) {
    LinkStream stream = request(client, execution, offset);
    stream.head(client.options().answer());
    return stream;
  }

  /** Attaches at {@code offset}; the head is still to be read. */
  static LinkStream request(AgentClient client, long execution, long offset) {
    FieldsBuilder request =
        new FieldsBuilder(Operation.ATTACH).add(Tag.EXECUTION, execution).add(Tag.OFFSET, offset);
    return client.open(Operation.ATTACH, request, WINDOW);
  }
}
