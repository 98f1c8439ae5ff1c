package dev.isola.link;

import dev.isola.spi.error.Gone;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;

/** An execution on a terminal. Input continues after a reconnect; bytes in flight may be lost. */
final class AgentTerminal extends AgentExecution implements Terminal {
  AgentTerminal(AgentClient client, LinkStream stream, StartInfo start, long position) {
    super(client, stream, start, position);
  }

  @Override
  public void resize(TerminalSize size) {
    if (hasEnded()) {
      return;
    }
    WireFieldsBuilder request =
        new WireFieldsBuilder(AgentOperation.RESIZE)
            .add(FieldTag.EXECUTION, number())
            .add(FieldTag.COLS, size.columns())
            .add(FieldTag.ROWS, size.rows());
    try {
      client().call(AgentOperation.RESIZE, request, client().timeouts().responseTimeout());
    } catch (Gone | NotFound nothingLeft) {
      // A terminal that is gone cannot be resized.
    }
  }

  @Override
  LinkStream inputStream() {
    return ensureAttached();
  }
}
