package dev.isola.compat.mcp;

import dev.isola.server.auth.Scope;
import dev.isola.server.error.Problem;
import dev.isola.server.route.Query;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Violation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The tools, and what all calls have in common: scopes, arguments, errors. */
record Toolbox(List<Tool> tools) {

  List<Map<String, Object>> definitions() {
    return tools.stream().map(Tool::definition).toList();
  }

  Optional<Tool> find(String name) {
    return tools.stream().filter(tool -> tool.name().equals(name)).findFirst();
  }

  /** Calls a tool. A failure is a result with the code and the remedy of the native API. */
  ToolResult call(Tool tool, ToolCall call) throws IOException, InterruptedException {
    String action = "mcp:" + tool.name();
    call.exchange().setOperation(action, Optional.empty());
    try {
      requireScope(tool, call);
      List<Violation> problems = new ArrayList<>();
      tool.input().check("", call.arguments(), problems);
      if (!problems.isEmpty()) {
        throw Query.invalid(problems);
      }
      return tool.action().call(call);
    } catch (SandboxException e) {
      Fault fault = Problem.fault(e);
      call.exchange().setOperation(action, Optional.of(fault.code()));
      return ToolResult.error(fault);
    }
  }

  private static void requireScope(Tool tool, ToolCall call) {
    Optional<Scope> has = call.key().map(key -> key.scope());
    if (has.filter(scope -> scope.allows(tool.scope())).isEmpty()) {
      throw Fault.of(
              ErrorCode.FORBIDDEN,
              tool.name() + " needs a key with scope " + tool.scope().word(),
              "use another key")
          .exception();
    }
  }
}
