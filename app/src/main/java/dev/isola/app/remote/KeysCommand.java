package dev.isola.app.remote;

import dev.isola.app.cli.Action;
import dev.isola.app.cli.HelpCommand;
import dev.isola.app.cli.Wiring;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code isola keys}: the commands about keys, and their help when none is named. */
@Command(
    name = "keys",
    synopsisSubcommandLabel = "COMMAND",
    description = "List, make and revoke keys of a server.")
public final class KeysCommand implements Action {
  private final Wiring wiring;

  @Spec private @Nullable CommandSpec spec;

  private KeysCommand(Wiring wiring) {
    this.wiring = wiring;
  }

  public static CommandLine line(Wiring wiring) {
    return new CommandLine(new KeysCommand(wiring))
        .addSubcommand(new KeysListCommand(wiring))
        .addSubcommand(new KeysCreateCommand(wiring))
        .addSubcommand(new KeysRemoveCommand(wiring));
  }

  @Override
  public int run() {
    if (spec == null) {
      throw new IllegalStateException("picocli did not inject the spec");
    }
    return HelpCommand.show(spec.commandLine(), wiring);
  }
}
