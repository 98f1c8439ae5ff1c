package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.client.Fork;
import dev.isola.client.ForkOptions;
import dev.isola.client.Isola;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola fork}. */
@Command(
    name = "fork",
    description = {
      "Create sandboxes with a copy of another sandbox's files and print their ids.",
      "With --kind memory its processes continue in every fork."
    })
public final class ForkCommand extends RemoteCommand {
  /** Values of {@code --kind}, for shell completion. */
  static final class Kinds extends ArrayList<String> {
    private static final long serialVersionUID = 1L;

    Kinds() {
      super(List.of("filesystem", "memory"));
    }
  }

  @Parameters(paramLabel = "SANDBOX", description = "Id, name, or first characters of the id.")
  private String sandbox = "";

  @Option(names = "-n", paramLabel = "COUNT", description = "Number of forks. Default: 1.")
  private String count = "1";

  @Option(
      names = "--kind",
      paramLabel = "KIND",
      completionCandidates = Kinds.class,
      description = {
        "State to copy. Default: filesystem.",
        "memory: files and running processes, where the provider supports it."
      })
  private String kind = "filesystem";

  @Option(
      names = "--allow-secrets",
      description = "Copy the memory of a sandbox that has secret variables.")
  private boolean allowSecrets;

  public ForkCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    int number = (int) Arguments.count("-n", count, "forks");
    List<Fork> forks =
        sandbox(isola, sandbox).forkEach(new ForkOptions(number, kind, allowSecrets));
    if (console.json()) {
      console.print(
          Map.of(
              "kind",
              forks.stream().map(Fork::kind).findFirst().orElse(kind),
              "forks",
              forks.stream().map(ForkCommand::document).toList()));
    }
    int failed = 0;
    for (Fork fork : forks) {
      if (fork.sandbox().isEmpty()) {
        failed++;
        console.printErr(CellFormat.text(error(fork)));
      } else if (!console.json()) {
        console.print(fork.sandbox().get().id() + "\n");
      }
    }
    return failed == 0 ? ExitCodes.OK : ExitCodes.NOT_RUN;
  }

  private static Map<String, Object> document(Fork fork) {
    return fork.sandbox()
        .<Map<String, Object>>map(
            info -> Map.of("sandbox", info.document(), "by", fork.by().orElse("")))
        .orElseGet(() -> Map.of("error", error(fork)));
  }

  private static String error(Fork fork) {
    return fork.error().map(error -> error.code() + ": " + error.detail()).orElse("");
  }
}
