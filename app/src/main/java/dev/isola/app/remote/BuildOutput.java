package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.Console;
import dev.isola.client.TemplateBuild;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Prints the log of a build as it grows: a header for each step, its output indented. */
final class BuildOutput {
  private static final int TAIL = 20;

  private final Console console;
  private final List<String> tail = new ArrayList<>();
  private Optional<Long> step = Optional.empty();

  BuildOutput(Console console) {
    this.console = console;
  }

  void add(TemplateBuild.Line line) {
    boolean header = line.step().isPresent() && !line.step().equals(step);
    if (header) {
      step = line.step();
      tail.clear();
    } else {
      tail.add(line.message());
      if (tail.size() > TAIL) {
        tail.removeFirst();
      }
    }
    if (!console.json()) {
      console.print(format(line, header) + "\n");
    }
  }

  private String format(TemplateBuild.Line line, boolean header) {
    String text = CellFormat.text(line.message());
    if (header) {
      return console.styled(Console.Style.BOLD, "#" + step.orElse(0L) + " " + text);
    }
    String indented = (line.step().isPresent() ? "   " : "") + text;
    return switch (line.level()) {
      case "error" -> console.styled(Console.Style.RED, indented);
      case "warn" -> console.styled(Console.Style.YELLOW, indented);
      default -> indented;
    };
  }

  /** Returns the last lines of the step printed last. */
  List<String> tail() {
    return List.copyOf(tail);
  }
}
