package dev.isola.link;

import dev.isola.spi.error.Gone;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;

/**
 * A command on a terminal under the agent. Typing goes on after a drop; what was under way may be
 * lost.
 */
final class AgentTerminal extends AgentExecution implements Terminal {
  AgentTerminal(AgentClient client, LinkStream stream, Start start, long position) {
    super(client, stream, start, position);
  }

  @Override
  public void resize(TerminalSize size) {
    if (ended()) {
      return;
    }
    FieldsBuilder request =
        new FieldsBuilder(Operation.RESIZE)
            .add(Tag.EXECUTION, number())
            .add(Tag.COLS, size.columns())
            .add(Tag.ROWS, size.rows());
    try {
      client().call(Operation.RESIZE, request, client().options().answer());
    } catch (Gone | NotFound nothingLeft) {
      // A terminal that is gone has no size.
    }
  }

  @Override
  LinkStream inputStream() {
    return attached();
  }
}
