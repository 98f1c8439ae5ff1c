package dev.isola.document.request;

import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.Violation;
import java.util.ArrayList;
import java.util.List;

/**
 * Validates what concerns several fields of a request. Every rule is checked, so that the client
 * learns of all violations at once.
 */
public final class RequestValidation {
  private static final int MAX_COMMAND_LENGTH = 64 * 1024;

  private final List<Violation> found = new ArrayList<>();

  private RequestValidation() {}

  /**
   * Returns the violations of the spec of {@code request}, followed by those of its other fields.
   */
  public static List<Violation> violations(CreateRequest request) {
    RequestValidation validation = new RequestValidation();
    validation.found.addAll(SpecValidation.violations(request.spec()));
    request
        .mcpServer()
        .ifPresent(server -> validation.mcpServer(server, request.placement().workload()));
    return List.copyOf(validation.found);
  }

  private void mcpServer(McpServer server, Workload workload) {
    require(
        workload == Workload.MCP_SERVER,
        "mcp",
        "needs containerType mcp_server, which hosts this command");
    Command command = server.command();
    boolean blank = command.program().chars().anyMatch(Character::isWhitespace);
    require(
        !(blank && command.args().isEmpty()),
        "mcp.command",
        "must be a program alone; put its arguments into mcp.args");
    require(
        command.cwd().isEmpty() || command.cwd().get().startsWith("/"),
        "mcp.cwd",
        "must be an absolute path in the sandbox");
    int length = command.toArgv().stream().mapToInt(String::length).sum();
    require(
        length <= MAX_COMMAND_LENGTH,
        "mcp.args",
        "are longer than " + MAX_COMMAND_LENGTH + " characters");
  }

  private void require(boolean ok, String field, String problem) {
    if (!ok) {
      found.add(new Violation(field, problem));
    }
  }
}
