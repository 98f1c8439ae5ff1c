package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.app.cli.UsageException;
import dev.isola.client.Isola;
import dev.isola.client.Ports;
import dev.isola.client.Sandbox;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola ports}. */
@Command(
    name = "ports",
    sortOptions = false,
    description =
        "List the public ports of a sandbox, change the access to a port, or print a link to it.")
public final class PortsCommand extends RemoteCommand {
  private static final Duration DEFAULT_TTL = Duration.ofHours(1);

  @Parameters(index = "0", paramLabel = "ID", description = "Id of the sandbox.")
  private String id = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "PORT",
      description = "Port of the sandbox.")
  private @Nullable Integer port;

  @Option(names = "--public", description = "Make PORT reachable without a key.")
  private boolean open;

  @Option(names = "--private", description = "Make PORT reachable only with a key or a link.")
  private boolean closed;

  @Option(names = "--link", description = "Print a temporary link to PORT that needs no key.")
  private boolean link;

  @Option(
      names = "--ttl",
      paramLabel = "TIME",
      description = "How long the link is valid: 10m, 2h. Default: 1h.")
  private @Nullable String ttl;

  public PortsCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    Sandbox sandbox = sandbox(isola, id);
    if (open && closed) {
      throw new UsageException("--public and --private cannot be combined", "omit one of them");
    }
    if (port == null) {
      if (open || closed || link) {
        throw new UsageException("PORT is missing", "add it after the id");
      }
      return list(sandbox.ports().list(), console);
    }
    if (open || closed) {
      sandbox.ports().setPublic(port, open);
    }
    if (link) {
      Duration time = ttl == null ? DEFAULT_TTL : Arguments.duration("--ttl", ttl);
      Ports.Link created = sandbox.ports().link(port, time);
      if (console.json()) {
        console.print(created.document());
      } else {
        console.print(created.url() + "\n");
      }
    } else if (!open && !closed) {
      int selected = port;
      return list(
          sandbox.ports().list().stream().filter(entry -> entry.port() == selected).toList(),
          console);
    }
    return ExitCodes.OK;
  }

  private static int list(List<Ports.Port> ports, Console console) {
    if (console.json()) {
      console.print(Map.of("ports", ports.stream().map(Ports.Port::document).toList()));
    } else if (ports.isEmpty()) {
      console.print("no public ports; create a link to a port with isola ports ID PORT --link\n");
    } else {
      Table table = new Table().row("PORT", "ACCESS");
      for (Ports.Port entry : ports) {
        table.row(Integer.toString(entry.port()), entry.isPublic() ? "public" : "private");
      }
      console.print(table.text());
    }
    return ExitCodes.OK;
  }
}
