package dev.isola.app.remote;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.UsageException;
import dev.isola.app.remote.Contexts.Context;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola logout}. */
@Command(name = "logout", description = "Remove a server and its API key.")
public final class LogoutCommand implements CliCommand {
  private final CommandContext context;

  @Parameters(
      arity = "0..1",
      paramLabel = "NAME",
      description = "Context to remove. Default: the current one.")
  private @Nullable String name;

  public LogoutCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Contexts contexts = Contexts.of(context.environment().variables());
    String selected = name == null ? contexts.current().map(Context::name).orElse("") : name;
    if (!contexts.all().containsKey(selected)) {
      throw new UsageException(
          name == null ? "no current context" : "unknown context '" + name + "'",
          "run isola contexts to list them");
    }
    contexts.remove(selected);
    return ExitCodes.OK;
  }
}
