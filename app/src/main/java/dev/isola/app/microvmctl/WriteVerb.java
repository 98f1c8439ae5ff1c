package dev.isola.app.microvmctl;

import dev.isola.app.cli.CommandContext;
import dev.isola.client.FileInfo;
import dev.isola.client.Files;
import picocli.CommandLine.Command;

/** Implements {@code microvmctl write}. */
@Command(
    name = "write",
    description = "Write standard input to a file; creates the folders of its path.")
final class WriteVerb extends PathVerb {
  WriteVerb(CommandContext context) {
    super(context);
  }

  @Override
  void run(Files files, String path) {
    FileInfo _ = files.write(path, context.environment().in());
  }
}
