package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.app.cli.UsageException;
import dev.isola.client.Isola;
import dev.isola.client.Ports;
import dev.isola.client.error.Forbidden;
import java.time.Duration;
import java.util.ArrayList;
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
        "List the public ports of a sandbox, change the access to ports, or print links to them.")
public final class PortsCommand extends RemoteCommand {
  private static final Duration DEFAULT_TTL = Duration.ofHours(1);

  @Parameters(
      index = "0",
      paramLabel = "ID",
      description = "Id, name, or first characters of the id.")
  private String id = "";

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "PORT",
      description = "Ports of the sandbox, 1 to 65535.")
  private List<String> words = new ArrayList<>();

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
    List<Integer> selected = selected();
    if (open && closed) {
      throw new UsageException("--public and --private cannot be combined", "omit one of them");
    }
    if (selected.isEmpty() && (open || closed || link)) {
      throw new UsageException("PORT is missing", "add it after the id: isola ports ID 8000");
    }
    if (ttl != null && !link) {
      throw new UsageException("--ttl applies to --link only", "add --link, or omit --ttl");
    }
    Duration linkTtl = ttl == null ? DEFAULT_TTL : Arguments.duration("--ttl", ttl);
    Ports ports = sandbox(isola, id).ports();
    if (open || closed) {
      selected.forEach(port -> ports.setPublic(port, open));
    }
    if (link) {
      return links(selected.stream().map(port -> ports.link(port, linkTtl)).toList(), console);
    }
    return report(
        selected.isEmpty()
            ? ports.list().stream().map(listed -> details(ports, listed)).toList()
            : selected.stream().map(ports::get).toList(),
        console);
  }

  /** Returns whether a process listens, too, unless the key may not connect to ports. */
  private static Ports.Port details(Ports ports, Ports.Port listed) {
    try {
      return ports.get(listed.port());
    } catch (Forbidden e) {
      return listed;
    }
  }

  /** Returns the ports of the command line, each once. */
  private List<Integer> selected() {
    List<Integer> ports = new ArrayList<>();
    for (String word : words) {
      int port = word.matches("[0-9]{1,5}") ? Integer.parseInt(word) : 0;
      if (port < 1 || port > 65_535) {
        throw new UsageException("'" + word + "' is not a port", "use a number from 1 to 65535");
      }
      if (ports.contains(port)) {
        throw new UsageException("port " + port + " is given twice", "omit one of them");
      }
      ports.add(port);
    }
    return ports;
  }

  private static int links(List<Ports.Link> links, Console console) {
    if (console.json()) {
      console.print(
          links.size() == 1
              ? links.getFirst().document()
              : Map.of("links", links.stream().map(Ports.Link::document).toList()));
    } else {
      links.forEach(one -> console.print(one.url() + "\n"));
    }
    return ExitCodes.OK;
  }

  private static int report(List<Ports.Port> ports, Console console) {
    if (console.json()) {
      console.print(Map.of("ports", ports.stream().map(Ports.Port::document).toList()));
    } else if (ports.isEmpty()) {
      console.print(
          "no public ports; publish one with isola ports ID PORT --public, or print a link with"
              + " --link\n");
    } else {
      Table table = new Table().row("PORT", "ACCESS", "LISTENING", "URL");
      for (Ports.Port entry : ports) {
        table.row(
            Integer.toString(entry.port()),
            entry.isPublic() ? "public" : "private",
            entry.listening().map(yes -> yes ? "yes" : "no").orElse("unknown"),
            entry.url().map(CellFormat::text).orElse("-"));
      }
      console.print(table.text());
    }
    return ExitCodes.OK;
  }
}
