package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.EventFilter;
import dev.isola.client.EventStream;
import dev.isola.client.Isola;
import dev.isola.codec.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Implements {@code isola events}. */
@Command(name = "events", description = "Stream lifecycle events of sandboxes until Ctrl-C.")
public final class EventsCommand extends RemoteCommand {
  private static final int WIDEST_DATA = 200;

  @Option(
      names = "--sandbox",
      paramLabel = "ID",
      description = "Only events of this sandbox. Repeatable.")
  private List<String> sandboxes = new ArrayList<>();

  @Option(
      names = "--type",
      paramLabel = "TYPE",
      description =
          "Only events of this type: spawn, ready, stateChange, resourceWarning, error, terminate"
              + " and others. Repeatable.")
  private List<String> types = new ArrayList<>();

  @Option(
      names = "--after",
      paramLabel = "N",
      description = "Start after the event with this number; 0 for all. Default: only new events.")
  private @Nullable Long after;

  @Option(names = "--count", paramLabel = "N", description = "Exit after this many events.")
  private long count = Long.MAX_VALUE;

  public EventsCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    EventFilter filter =
        new EventFilter(
            types,
            // With an invalid id the stream would stay silent forever.
            sandboxes.stream().map(text -> sandbox(isola, text).id()).toList(),
            Optional.ofNullable(after));
    try (EventStream events = isola.events(filter)) {
      for (long seen = 0; seen < count; seen++) {
        EventStream.Event event = events.next();
        if (!console.tryPrint(console.json() ? Json.text(event.document()) : line(event))) {
          return ExitCodes.OUTPUT_CLOSED;
        }
      }
    }
    return ExitCodes.OK;
  }

  private static String line(EventStream.Event event) {
    return event.number()
        + "  "
        + event.at()
        + "  "
        + CellFormat.text(event.type())
        + "  "
        + event.sandbox().orElse("-")
        + (event.data().isEmpty()
            ? ""
            : "  " + CellFormat.truncated(Json.text(event.data()), WIDEST_DATA));
  }
}
