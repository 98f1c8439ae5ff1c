package dev.isola.document.request;

import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.Violation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Validates requests. Every rule is checked, so that the client learns of all violations at once.
 */
public final class RequestValidation {
  private static final Duration MAX_DURATION = Duration.ofDays(3650);
  private static final int MAX_COMMAND_LENGTH = 64 * 1024;
  private static final int MAX_TAGS = 64;
  private static final int MAX_NAME_LENGTH = 128;
  private static final int MAX_VALUE_LENGTH = 1024;

  private final List<Violation> found = new ArrayList<>();

  private RequestValidation() {}

  /**
   * Returns the violations of the spec of {@code request}, followed by those of its other fields.
   */
  public static List<Violation> violations(CreateRequest request) {
    RequestValidation validation = new RequestValidation();
    validation.found.addAll(SpecValidation.violations(request.spec()));
    request.lifecycle().ttl().ifPresent(ttl -> validation.time("ttl", ttl));
    request.lifecycle().idleTimeout().ifPresent(idle -> validation.time("idleTimeout", idle));
    validation.tags(request.tags());
    request
        .mcpServer()
        .ifPresent(server -> validation.mcpServer(server, request.placement().workload()));
    return List.copyOf(validation.found);
  }

  private void time(String field, Duration time) {
    require(
        time.isPositive() && time.compareTo(MAX_DURATION) <= 0,
        field,
        "must be more than 0 and at most 3650 days");
  }

  private void tags(Map<String, String> tags) {
    require(tags.size() <= MAX_TAGS, "tags", "has more than " + MAX_TAGS + " entries");
    tags.forEach(
        (name, value) -> {
          require(!name.isBlank(), "tags", "is blank");
          require(
              name.length() <= MAX_NAME_LENGTH,
              "tags",
              "is longer than " + MAX_NAME_LENGTH + " characters");
          require(name.indexOf('\0') < 0, "tags", "contains a NUL");
          require(
              value.length() <= MAX_VALUE_LENGTH,
              "tags." + name,
              "is longer than " + MAX_VALUE_LENGTH + " characters");
        });
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
