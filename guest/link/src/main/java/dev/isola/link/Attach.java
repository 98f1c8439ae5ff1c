package dev.isola.link;

/** Opens the stream of an execution that runs already. */
final class Attach {
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
    return client.open(Operation.ATTACH, request, AgentExecution.WINDOW);
  }
}
