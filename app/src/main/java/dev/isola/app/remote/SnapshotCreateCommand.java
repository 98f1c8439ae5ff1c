package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Isola;
import dev.isola.client.SnapshotInfo;
import dev.isola.client.SnapshotOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola snapshot create}. */
@Command(name = "create", description = "Take a snapshot of a sandbox and print its id.")
final class SnapshotCreateCommand extends RemoteCommand {
  @Parameters(paramLabel = "SANDBOX", description = "Id, name, or first characters of the id.")
  private String sandbox = "";

  @Option(
      names = "--kind",
      paramLabel = "KIND",
      completionCandidates = ForkCommand.Kinds.class,
      description = {
        "State to store. Default: filesystem.",
        "memory: files and running processes, where the provider supports it."
      })
  private String kind = "filesystem";

  @Option(
      names = "--allow-secrets",
      description = "Store the memory of a sandbox that has secret variables.")
  private boolean allowSecrets;

  @Option(
      names = "--include",
      paramLabel = "PATTERN",
      description = "Include only paths that match. Repeatable.")
  private List<String> includes = new ArrayList<>();

  @Option(
      names = "--exclude",
      paramLabel = "PATTERN",
      description = "Exclude paths that match. Repeatable.")
  private List<String> excludes = new ArrayList<>();

  @Option(
      names = "--scope",
      paramLabel = "everything|folder",
      description = {
        "everything (all changes of the sandbox) or folder.",
        "Default: everything, unless --path, --include or --exclude is set."
      })
  private @Nullable String scope;

  @Option(
      names = "--path",
      paramLabel = "FOLDER",
      description = "Folder to capture with --scope folder. Default: the workspace.")
  private @Nullable String path;

  @Option(
      names = "--tag",
      paramLabel = "NAME=VALUE",
      description = "Tag to attach to the snapshot. Repeatable.")
  private List<String> tags = new ArrayList<>();

  SnapshotCreateCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    SnapshotOptions options =
        new SnapshotOptions(
            kind,
            allowSecrets,
            Optional.ofNullable(scope),
            Optional.ofNullable(path),
            includes,
            excludes,
            Arguments.variables("--tag", tags));
    SnapshotInfo created = sandbox(isola, sandbox).snapshot(options);
    if (console.json()) {
      console.print(created.document());
    } else {
      console.print(created.id() + "\n");
    }
    if (console.verbose()) {
      console.printErr(
          created.files()
              + " files, "
              + CellFormat.size(created.bytes())
              + ", of which "
              + CellFormat.size(created.storedBytes())
              + " stored; processes were paused for "
              + created.document().get("heldMs")
              + " ms");
    }
    return ExitCodes.OK;
  }
}
