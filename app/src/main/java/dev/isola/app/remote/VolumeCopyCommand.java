package dev.isola.app.remote;

import dev.isola.app.cli.CommandContext;
import dev.isola.client.Files;
import dev.isola.client.Isola;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;

/** Implements {@code isola volume cp}. */
@Command(
    name = "cp",
    description = {
      "Copy a file or folder between this host and a volume.",
      "One of SRC and DST is NAME:PATH, the other a path on this host, or - for stdin or stdout."
    })
final class VolumeCopyCommand extends FileCopyCommand {
  private static final Pattern REMOTE =
      Pattern.compile("([A-Za-z0-9][A-Za-z0-9_.-]{0,127}):(.*)", Pattern.DOTALL);

  VolumeCopyCommand(CommandContext context) {
    super(context, REMOTE, "NAME", "isola volume cp notes.txt data:notes.txt");
  }

  @Override
  Files files(Isola isola, String volume) {
    return isola.volumes().files(volume);
  }
}
