package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.EgressOptions;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Table;
import dev.isola.app.cli.UsageException;
import dev.isola.client.Egress;
import dev.isola.client.EgressReport;
import dev.isola.client.Isola;
import dev.isola.codec.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola egress}. */
@Command(
    name = "egress",
    sortOptions = false,
    description = {
      "Print which other hosts a sandbox reaches, its connections and what was denied.",
      "With options, change the rules first. New connections follow them at once."
    })
public final class EgressCommand extends RemoteCommand {
  private static final int SHOWN = 20;

  @Parameters(paramLabel = "ID", description = "Id, name, or first characters of the id.")
  private String id = "";

  @Option(
      names = "--allow",
      paramLabel = "HOST[:PORTS]",
      description = "Allow a host, in addition to the present rules. Repeatable.")
  private List<String> allowed = new ArrayList<>();

  @Option(
      names = "--deny",
      paramLabel = "HOST[:PORTS]",
      description = "Deny a host, in addition to the present rules. Repeatable.")
  private List<String> denied = new ArrayList<>();

  @Option(
      names = "--set",
      paramLabel = "FILE",
      description =
          "Replace all settings by this JSON document, or - for stdin: network.egress of a spec.")
  private @Nullable String file;

  @Option(
      names = "--close-existing",
      description = "With --set: end open connections that the new settings deny.")
  private boolean closeExisting;

  public EgressCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    if (closeExisting && file == null) {
      throw new UsageException(
          "--close-existing works with --set only",
          "use isola egress ID --set FILE --close-existing");
    }
    Egress egress = sandbox(isola, id).egress();
    EgressReport report =
        file == null ? egress.report() : egress.replace(read(file), closeExisting);
    for (String host : allowed) {
      report = egress.add(EgressOptions.rule("allow", host));
    }
    for (String host : denied) {
      report = egress.add(EgressOptions.rule("deny", host));
    }
    if (console.json()) {
      console.print(report.document());
    } else {
      console.print(text(report, Instant.now(), console.columns()));
    }
    return ExitCodes.OK;
  }

  private Map<String, Object> read(String from) {
    try {
      String text =
          from.equals("-")
              ? new String(context.environment().in().readAllBytes(), StandardCharsets.UTF_8)
              : Files.readString(Arguments.hostPath("--set", from));
      return Json.parseObject(text);
    } catch (IOException | IllegalArgumentException e) {
      throw new UsageException(
          "--set " + from + " cannot be read as JSON", "use a file on this host, or - for stdin");
    }
  }

  private static String text(EgressReport report, Instant now, int columns) {
    Table rules = new Table();
    for (Map<String, Object> rule : report.rules()) {
      String action = rule.containsKey("allow") ? "allow" : "deny";
      Object ports = rule.get("ports");
      rules.row(
          action,
          CellFormat.text(
              rule.get(action)
                  + (ports == null ? "" : " ports " + ports)
                  + (rule.containsKey("http") ? " (HTTP rules)" : "")));
    }
    rules.row("default", report.fallback());
    rules.row(
        "traffic",
        report.totalConnections()
            + " connections, "
            + report.totalDenials()
            + " denials, sent "
            + CellFormat.size(report.sentBytes())
            + ", received "
            + CellFormat.size(report.receivedBytes()));
    StringBuilder text = new StringBuilder(rules.text(columns));
    Table traffic = new Table();
    report.connections().stream().limit(SHOWN).forEach(one -> add(traffic, "open", one, now));
    report.recentConnections().stream()
        .limit(SHOWN)
        .forEach(one -> add(traffic, "ended", one, now));
    report.recentDenials().stream()
        .limit(SHOWN)
        .forEach(
            one ->
                traffic.row(
                    one.denied() ? "denied" : "failed",
                    CellFormat.age(one.at(), now),
                    CellFormat.text(one.host() + ":" + one.port()),
                    CellFormat.text(
                        one.request().map(request -> request + ": ").orElse("")
                            + one.reason()
                            + one.remedy().map(rule -> " (remedy: " + rule + ")").orElse(""))));
    return text.append(traffic.text(columns)).toString();
  }

  private static void add(Table table, String state, EgressReport.Connection one, Instant now) {
    table.row(
        state,
        CellFormat.age(one.closedAt().orElse(one.openedAt()), now),
        CellFormat.text(one.host() + ":" + one.port()),
        CellFormat.text(
            "sent "
                + CellFormat.size(one.sentBytes())
                + ", received "
                + CellFormat.size(one.receivedBytes())
                + ", "
                + one.rule()));
  }
}
