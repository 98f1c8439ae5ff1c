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
    description = "List the ports of a sandbox that are open to everybody; open or link to one.")
public final class PortsCommand extends RemoteCommand {
  private static final Duration USUAL = Duration.ofHours(1);

  @Parameters(index = "0", paramLabel = "ID", description = "The sandbox.")
  private String id = "";

  @Parameters(index = "1", arity = "0..1", paramLabel = "PORT", description = "One of its ports.")
  private @Nullable Integer port;

  @Option(names = "--public", description = "Let anybody look at PORT, without a key.")
  private boolean open;

  @Option(names = "--private", description = "Let only those look who have a key or a link.")
  private boolean closed;

  @Option(names = "--link", description = "Print a link to PORT that needs no key.")
  private boolean link;

  @Option(names = "--ttl", paramLabel = "TIME", description = "How long the link works: 10m; 1h.")
  private @Nullable String ttl;

  public PortsCommand(CommandContext wiring) {
    super(wiring);
  }

  @Override
  int run(Isola isola, Console console) {
    Sandbox sandbox = sandbox(isola, id);
    if (open && closed) {
      throw new UsageException("--public and --private exclude each other", "leave one out");
    }
    if (port == null) {
      if (open || closed || link) {
        throw new UsageException("there is no PORT", "write it behind the id");
      }
      return list(sandbox.ports().list(), console);
    }
    if (open || closed) {
      sandbox.ports().setPublic(port, open);
    }
    if (link) {
      Duration time = ttl == null ? USUAL : Arguments.duration("--ttl", ttl);
      Ports.Link made = sandbox.ports().link(port, time);
      if (console.json()) {
        console.print(made.document());
      } else {
        console.print(made.url() + "\n");
      }
    } else if (!open && !closed) {
      int wanted = port;
      return list(
          sandbox.ports().list().stream().filter(one -> one.port() == wanted).toList(), console);
    }
    return ExitCodes.OK;
  }

  private static int list(List<Ports.Port> ports, Console console) {
    if (console.json()) {
      console.print(Map.of("ports", ports.stream().map(Ports.Port::document).toList()));
    } else if (ports.isEmpty()) {
      console.print("no port is open to everybody; isola ports ID PORT --link makes a link\n");
    } else {
      Table table = new Table().row("PORT", "ACCESS");
      for (Ports.Port one : ports) {
        table.row(Integer.toString(one.port()), one.isPublic() ? "public" : "private");
      }
      console.print(table.text());
    }
    return ExitCodes.OK;
  }
}
