package dev.isola.app.cli;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** Root command {@code isola} with the options that all commands share. */
@Command(
    name = "isola",
    synopsisSubcommandLabel = "COMMAND",
    sortOptions = false,
    description = "Run untrusted code in sandboxes.")
public final class GlobalOptions {
  /** Values of {@code --color}, for shell completion. */
  static final class ColorModes extends ArrayList<String> {
    private static final long serialVersionUID = 1L;

    ColorModes() {
      super(List.of("auto", "always", "never"));
    }
  }

  @Option(
      names = "--json",
      scope = ScopeType.INHERIT,
      description = "Print one JSON object on standard output, also for errors.")
  public boolean json;

  @Option(
      names = {"-v", "--verbose"},
      scope = ScopeType.INHERIT,
      description = "Print progress and details on standard error.")
  boolean verbose;

  @Option(
      names = "--color",
      paramLabel = "WHEN",
      scope = ScopeType.INHERIT,
      completionCandidates = ColorModes.class,
      description = "When to use color: auto, always or never. auto respects NO_COLOR.")
  String color = "auto";

  @Option(
      names = "--wide",
      scope = ScopeType.INHERIT,
      description = "Do not shorten tables to the width of the terminal.")
  boolean wide;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      scope = ScopeType.INHERIT,
      description =
          "Data folder. Default: $$ISOLA_DATA; otherwise /var/lib/isola for root, and"
              + " $$XDG_STATE_HOME/isola or ~/.local/state/isola for other users.")
  @Nullable String data;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = ScopeType.INHERIT,
      description = "Print this help.")
  public boolean help;

  @Option(
      names = {"-V", "--version"},
      versionHelp = true,
      description = "Print the version.")
  public boolean version;
}
