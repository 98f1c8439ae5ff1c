package dev.isola.app;

import dev.isola.app.cli.Action;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Wiring;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code isola completion}. */
@Command(
    name = "completion",
    description = "Print a completion script for bash and zsh.",
    footer = {"%nUse it with:", "  source <(isola completion)"})
final class CompletionCommand implements Action {
  private final Wiring wiring;

  @Spec private @Nullable CommandSpec spec;

  CompletionCommand(Wiring wiring) {
    this.wiring = wiring;
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    wiring.console().print(AutoComplete.bash("isola", spec.root().commandLine()));
    return ExitCodes.OK;
  }
}
