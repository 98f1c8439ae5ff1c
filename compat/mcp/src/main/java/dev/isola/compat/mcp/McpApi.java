package dev.isola.compat.mcp;

import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.HostOriginFilter;
import dev.isola.server.auth.PortCredentials;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.ApiDialect;
import dev.isola.server.route.ApiExtension;
import dev.isola.server.route.Route;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** Implements the Model Context Protocol (docs/mcp.md) at {@code /mcp}. */
public final class McpApi implements ApiExtension {
  private static final String PATH = "/mcp";

  private final McpEndpoint endpoint;

  /**
   * @param defaultProvider the provider of sandboxes whose client names none
   * @param version the version of Isola
   */
  public McpApi(ServerContext context, ApiKeys keys, String defaultProvider, String version) {
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
                }));
  }

  /** Every tool checks the scope that it needs. */
  private static Route route(String method, String name, String summary) {
    return Route.of(method, PATH, name, summary).needs(Scope.READ).of(new McpDialect());
  }

  @Override
  public Optional<ApiDialect> dialect(
      Function<String, List<String>> headers, Optional<HostOriginFilter.PreviewTarget> target) {
    return Optional.empty();
  }

  @Override
  public Optional<PortName> port(Function<String, List<String>> headers) {
    return Optional.empty();
  }

  @Override
  public Optional<String> path(HostOriginFilter.PreviewTarget target, String path) {
    return Optional.empty();
  }

  @Override
  public PortCredentials portCredentials() {
    return PortCredentials.NONE;
  }
}
