package dev.isola.compat.mcp;

import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.ApiExtension;
import dev.isola.server.route.Route;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.stream.Stream;

/**
 * Implements the Model Context Protocol (docs/mcp.md): tools of Isola at {@code /mcp}, and servers
 * that sandboxes host at {@code /api/v1/sandboxes/{id}/mcp}.
 */
public final class McpApi implements ApiExtension {
  private static final String PATH = "/mcp";
  private static final String HOSTED = "/api/v1/sandboxes/{id}/mcp";

  private final McpEndpoint endpoint;
  private final HostedServers hostedServers;
  private final HostedEndpoint hosted;

  /**
   * @param defaultProvider the provider of sandboxes whose client names none
   * @param version the version of Isola
   * @param limits of the servers that sandboxes host
   */
  public McpApi(
      ServerContext context,
      ApiKeys keys,
      String defaultProvider,
      String version,
      HostingLimits limits) {
    ToolSandboxes sandboxes =
        new ToolSandboxes(context, new HostAccessGuard(context), defaultProvider);
    Toolbox tools =
        new Toolbox(
            Stream.of(
                    new SandboxTools(context, sandboxes).tools(),
                    new CommandTools(context, sandboxes).tools(),
                    new FileTools(context, sandboxes).tools(),
                    new PreviewTools(context, sandboxes, keys).tools())
                .flatMap(List::stream)
                .toList());
    endpoint = new McpEndpoint(tools, new McpSessions(keys), sandboxes, version);
    hostedServers = new HostedServers(context, limits, version);
    hosted = new HostedEndpoint(hostedServers, new McpSessions(keys));
  }

  HostedServers hostedServers() {
    return hostedServers;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        route("POST", "mcp", "Answers a message of the Model Context Protocol.")
            .takes(new Route.Body.Stream("application/json"))
            .handledBy(endpoint::post),
        route("DELETE", "mcpEndSession", "Ends a session and destroys its sandbox.")
            .handledBy(endpoint::delete),
        route("GET", "mcpStream", "Refuses a stream: the server sends no messages on its own.")
            .handledBy(
                exchange -> {
                  throw Fault.of(
                          ErrorCode.METHOD_NOT_ALLOWED,
                          "the server sends no messages on its own",
                          "use POST")
                      .with("allow", "POST, DELETE")
                      .exception();
                }),
        hosted("POST", "mcpHosted", "Passes a message to the MCP server that a sandbox hosts.")
            .takes(new Route.Body.Stream("application/json"))
            .handledBy(hosted::post),
        hosted("GET", "mcpHostedStream", "Streams messages of the MCP server to a session.")
            .answers(Route.Response.of("text/event-stream", "messages"))
            .handledBy(hosted::get),
        hosted("DELETE", "mcpHostedEndSession", "Ends a session with a hosted MCP server.")
            .handledBy(hosted::delete),
        Route.of("GET", HOSTED + "/status", "mcpHostedStatus", "Describes a hosted MCP server.")
            .of(new McpDialect())
            .needs(Scope.READ)
            .acceptsSandboxTokens()
            .handledBy(hosted::status));
  }

  /** Calling tools of a hosted server is like running a command in its sandbox. */
  private static Route hosted(String method, String name, String summary) {
    return Route.of(method, HOSTED, name, summary)
        .of(new McpDialect())
        .needs(Scope.USE)
        .acceptsSandboxTokens();
  }

  /** Every tool checks the scope that it needs. */
  private static Route route(String method, String name, String summary) {
    return Route.of(method, PATH, name, summary).needs(Scope.READ).of(new McpDialect());
  }
}
