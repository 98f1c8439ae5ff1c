package dev.isola.compat.mcp;

import dev.isola.server.access.ExposedPorts;
import dev.isola.server.access.PortUrls;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.Scope;
import dev.isola.server.context.ServerContext;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.SandboxId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The tool that shows a port of a sandbox to a person. */
record PreviewTools(ServerContext context, ToolSandboxes sandboxes, ApiKeys keys) {
  private static final long TTL_SECONDS = 3600;

  List<Tool> tools() {
    return List.of(
        new Tool(
            "preview_url",
            "Return a URL, valid for an hour, at which a browser reaches a web server in the"
                + " sandbox.",
            Scope.USE,
            false,
            new Shape.Obj(
                Field.required(
                    "port", new Shape.WholeNumber(1, 65_535), "Port the server listens on."),
                SandboxTools.SANDBOX),
            this::url));
  }

  private ToolResult url(ToolCall call) {
    SandboxId id = sandboxes.require(call).id();
    int port = call.number("port").orElseThrow().intValue();
    new ExposedPorts(context).check(id, port);
    PortUrls.Link link = PortUrls.link(call.exchange(), keys, id, port, TTL_SECONDS, false);
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("url", link.url());
    json.put("expiresAt", link.expiresAt().toString());
    return ToolResult.of(link.url(), json);
  }
}
