package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.client.Files;
import dev.isola.client.Isola;
import dev.isola.engine.api.SandboxNames;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;

/** Implements {@code isola cp}. */
@Command(
    name = "cp",
    description = {
      "Copy a file or folder between this host and a sandbox.",
      "One of SRC and DST is ID:PATH, the other a path on this host, or - for stdin or stdout.",
      "ID is the id of a sandbox, its name, or the first characters of the id."
    })
public final class CopyCommand extends FileCopyCommand {
  private static final Pattern REMOTE =
      Pattern.compile("(" + SandboxNames.PATTERN + "):(.*)", Pattern.DOTALL);

  public CopyCommand(CommandContext context) {
    super(context, REMOTE, "ID", "isola cp notes.txt ID:notes.txt");
  }

  @Override
  Files files(Isola isola, String id) {
    return sandbox(isola, id).files();
  }
}
