package dev.isola.app.purge;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ConfigOptions;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.IoErrors;
import dev.isola.app.cli.UsageException;
import dev.isola.app.instance.AgentConnections;
import dev.isola.app.instance.InstanceProcesses;
import dev.isola.app.remote.Contexts;
import dev.isola.app.serve.LedgerLocation;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.lease.SandboxLeases;
import dev.isola.link.local.TreeRemoval;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.store.LedgerConfig;
import dev.isola.store.LedgerFiles;
import dev.isola.store.Ledgers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Implements {@code isola purge}. */
@Command(
    name = "purge",
    description = {
      "Destroy all sandboxes of an installation and remove its data. Touches only what carries the",
      "id of the installation. Lists everything and asks first."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:nothing is left", "1:something could not be removed"})
public final class PurgeCommand implements CliCommand {
  private final CommandContext context;

  @Option(names = "--yes", description = "Do not ask.")
  private boolean yes;

  @Option(names = "--dry-run", description = "List what would be removed, and remove nothing.")
  private boolean dryRun;

  @Option(
      names = "--instance",
      paramLabel = "ID",
      description = {
        "Also purge what is left of the installation with this id, such as one whose data folder",
        "was removed. Repeatable. --dry-run lists the ids that are visible on this machine."
      })
  private List<String> named = new ArrayList<>();

  @Option(
      names = "--all-instances",
      description = "Also purge every installation that is visible on this machine.")
  private boolean all;

  @Mixin private final ConfigOptions configured = new ConfigOptions();

  public PurgeCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Config config = configured.sources(context).readOrThrow();
    Path data = config.get(ConfigKeys.DATA).toAbsolutePath().normalize();
    PurgeTarget target = PurgeTarget.of(data, named, all);
    if (!dryRun) {
      requireUnused(target, config);
    }
    try (InstalledProviders installed = InstalledProviders.open(context, config, target)) {
      DataFolderContent content = DataFolderContent.of(data, installed.names());
      PurgeReport report =
          new PurgeReport(target, installed.resources(), content, logins(data), context.console());
      report.print(config.get(ConfigKeys.STORE_URL).isPresent());
      if (report.isEmpty() || dryRun) {
        return ExitCodes.OK;
      }
      if (!yes && !confirmed()) {
        context.console().printErr("nothing was removed");
        return ExitCodes.FAILED;
      }
      requireNoProcess(target); // the answer may have taken long
      return remove(target, installed, content);
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the data folder " + data + " cannot be read: " + IoErrors.describe(e),
              "run the command as the user that owns it")
          .exception(e);
    }
  }

  private int remove(PurgeTarget target, InstalledProviders installed, DataFolderContent content) {
    List<String> failed = new ArrayList<>();
    for (ProviderResources resources : installed.resources()) {
      failed.addAll(resources.problems());
      failed.addAll(resources.destroy());
    }
    installed.close();
    Purge purge = new Purge(target);
    purge.failed().addAll(failed);
    purge.removeKernelObjects();
    purge.removeData(content);
    purge.removeUserIds();
    logins(target.data()).ifPresent(logins -> removeLogins(logins, purge));
    Console console = context.console();
    if (purge.failed().isEmpty()) {
      console.print("removed\n");
      return ExitCodes.OK;
    }
    purge.failed().forEach(one -> console.printErr("not removed: " + one));
    console.printErr("remove the cause, or run the command as root, and run it again");
    return ExitCodes.FAILED;
  }

  private static void removeLogins(Path logins, Purge purge) {
    try {
      TreeRemoval.remove(logins);
    } catch (IOException e) {
      purge.failed().add(logins + ": " + e.getMessage());
    }
  }

  /**
   * Refuses while a process uses one of the installations. A process of this machine shows that by
   * its claim, whatever the path of its data folder is; locks in the data folder and in the ledger
   * show processes of other containers and machines.
   */
  private static void requireUnused(PurgeTarget target, Config config) {
    requireNoProcess(target);
    for (InstanceTraces one : target.instances().values()) {
      AgentConnections.of(one.sandboxes())
          .ifPresent(
              id -> {
                throw inUse(
                    "a server is connected to sandbox "
                        + id
                        + " of installation "
                        + one.instance());
              });
    }
    Path data = target.data();
    new DataFolder(data)
        .installations().stream()
            .map(folder -> folder.path().resolve(LedgerLocation.FOLDER))
            .filter(Files::isDirectory)
            .flatMap(ledger -> LedgerFiles.owner(ledger).stream())
            .findFirst()
            .ifPresent(
                pid -> {
                  throw inUse("process " + pid + " (isola serve or mcp) uses " + data);
                });
    if (!new SandboxLeases(data).held().isEmpty()) {
      throw inUse("isola run uses " + data);
    }
    if (config.get(ConfigKeys.STORE_URL).isPresent() && target.recorded().containsKey(data)) {
      requireNoServer(LedgerLocation.ofOneServer(config));
    }
  }

  /** Opens the ledger, which its database refuses while a server of any machine uses it. */
  private static void requireNoServer(LedgerConfig ledger) {
    try {
      Ledgers.open(ledger).close();
    } catch (SandboxException e) {
      throw Fault.of(
              e.fault().code(),
              "the ledger in store.url does not confirm that no server uses the installation: "
                  + e.fault().problem()
                  + "; nothing was removed",
              "stop the servers, or leave store.url out if the database is gone for good")
          .exception(e);
    }
  }

  private static void requireNoProcess(PurgeTarget target) {
    InstanceProcesses processes = InstanceProcesses.read();
    for (InstanceTraces one : target.instances().values()) {
      processes
          .users(one.instance())
          .forEach(
              pid -> {
                throw inUse(
                    "process "
                        + pid
                        + " (a server or another isola command) uses installation "
                        + one.instance());
              });
    }
  }

  private static SandboxException inUse(String what) {
    return Fault.of(ErrorCode.CONFLICT, what + "; nothing was removed", "stop it first")
        .exception();
  }

  /**
   * Returns the file with the user's logins, if this is the user's only installation: that in the
   * default data folder.
   */
  private Optional<Path> logins(Path data) {
    Map<String, String> env = new HashMap<>(context.environment().variables());
    env.remove("ISOLA_DATA");
    Path standard = DataFolder.path(null, env, System.getProperty("user.name")).toAbsolutePath();
    return standard.normalize().equals(data)
        ? Optional.of(Contexts.file(env)).filter(Files::exists)
        : Optional.empty();
  }

  private boolean confirmed() {
    if (!context.environment().tty().in()) {
      throw new UsageException("standard input is not a terminal", "add --yes to remove it all");
    }
    context.console().print("Remove all of this? It cannot be undone. [y/N] ");
    StringBuilder answer = new StringBuilder();
    try {
      for (int c = context.environment().in().read();
          c >= 0 && c != '\n' && answer.length() < 16;
          c = context.environment().in().read()) {
        answer.append((char) c);
      }
    } catch (IOException e) {
      return false;
    }
    String word = answer.toString().strip();
    return word.equalsIgnoreCase("y") || word.equalsIgnoreCase("yes");
  }
}
