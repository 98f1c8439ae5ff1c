package dev.isola.provider.e2b.exec;

import dev.isola.provider.e2b.rpc.RpcError;
import dev.isola.spi.exec.Terminal;
import dev.isola.spi.exec.TerminalSize;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A command on a terminal of envd. */
final class E2bTerminal extends E2bExecution implements Terminal {
  private final SandboxContext context;

  E2bTerminal(
      SandboxContext context,
      ScriptRunner shell,
      ProcessStream stream,
      Start start,
      List<ProcessStream.Event.Data> first) {
    super(context, shell, stream, start, first);
    this.context = context;
  }

  @Override
  public void resize(TerminalSize size) {
    if (isOver()) {
      return;
    }
    Map<String, Object> message =
        Map.of(
            "process",
            Map.of("pid", pid()),
            "pty",
            Map.of("size", Map.of("cols", size.columns(), "rows", size.rows())));
    try {
      context.envd().call("process.Process/Update", message, true);
    } catch (RpcError e) {
      if (!e.code().equals("not_found")) {
        throw CommandStarter.refused(context, e, Optional.empty());
      }
    }
  }
}
