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
    description = "Runs code that nobody has read yet, in any sandbox.")
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
      description = "Answer with one JSON object on standard output, errors too.")
  public boolean json;

  @Option(
      names = {"-v", "--verbose"},
      scope = ScopeType.INHERIT,
      description = "Say on standard error what is being done.")
  boolean verbose;

  @Option(
      names = "--color",
      paramLabel = "WHEN",
      scope = ScopeType.INHERIT,
      completionCandidates = ColorModes.class,
      description = "auto, always or never; auto honours NO_COLOR.")
  String color = "auto";

  @Option(
      names = "--data",
      paramLabel = "DIR",
      scope = ScopeType.INHERIT,
      description =
          "Folder for state. Default: $$ISOLA_DATA, for root /var/lib/isola, else"
              + " $$XDG_STATE_HOME/isola or ~/.local/state/isola.")
  @Nullable String data;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = ScopeType.INHERIT,
      description = "Show this help.")
  public boolean help;

  @Option(
      names = {"-V", "--version"},
      versionHelp = true,
      description = "Show the version.")
  public boolean version;
}
