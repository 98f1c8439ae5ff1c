package dev.isola.app;

import dev.isola.app.backup.BackupCommand;
import dev.isola.app.backup.RestoreCommand;
import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.CommandFactory;
import dev.isola.app.cli.ErrorReport;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.GlobalOptions;
import dev.isola.app.cli.HelpCommand;
import dev.isola.app.cli.UsageException;
import dev.isola.app.cli.UsageReport;
import dev.isola.app.cli.VersionCommand;
import dev.isola.app.image.ImageCommand;
import dev.isola.app.local.RunCommand;
import dev.isola.app.mcp.McpCommand;
import dev.isola.app.microvmctl.MicrovmctlCommand;
import dev.isola.app.operate.ConfigCommand;
import dev.isola.app.operate.ConformanceCommand;
import dev.isola.app.operate.DoctorCommand;
import dev.isola.app.operate.ProvidersCommand;
import dev.isola.app.purge.PurgeCommand;
import dev.isola.app.remote.BatchCommand;
import dev.isola.app.remote.CommitCommand;
import dev.isola.app.remote.ContextsCommand;
import dev.isola.app.remote.CopyCommand;
import dev.isola.app.remote.CreateCommand;
import dev.isola.app.remote.EgressCommand;
import dev.isola.app.remote.EventsCommand;
import dev.isola.app.remote.ExecCommand;
import dev.isola.app.remote.ForkCommand;
import dev.isola.app.remote.InspectCommand;
import dev.isola.app.remote.KeysCommand;
import dev.isola.app.remote.KillCommand;
import dev.isola.app.remote.ListCommand;
import dev.isola.app.remote.LoginCommand;
import dev.isola.app.remote.LogoutCommand;
import dev.isola.app.remote.LogsCommand;
import dev.isola.app.remote.PauseCommand;
import dev.isola.app.remote.PortsCommand;
import dev.isola.app.remote.RemoveCommand;
import dev.isola.app.remote.RenewCommand;
import dev.isola.app.remote.ResumeCommand;
import dev.isola.app.remote.SecretsCommand;
import dev.isola.app.remote.ServersCommand;
import dev.isola.app.remote.ShellCommand;
import dev.isola.app.remote.SnapshotCommand;
import dev.isola.app.remote.StatusCommand;
import dev.isola.app.remote.TemplateCommand;
import dev.isola.app.remote.TopCommand;
import dev.isola.app.remote.VolumeCommand;
import dev.isola.app.remote.WaitCommand;
import dev.isola.app.serve.ServeCommand;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Entry point of the {@code isola} command: parses the arguments, runs one command and maps its
 * outcome to an exit code.
 */
public final class Main {
  /** Commands that describe the other commands and therefore need all of them. */
  private static final Set<String> NEED_ALL_COMMANDS = Set.of("help", "completion");

  /**
   * Commands after which some thread is still in native code, which makes {@code System.exit} slow.
   */
  private static final Set<String> EXIT_IMMEDIATELY =
      Set.of(
          "run",
          "login",
          "create",
          "ls",
          "exec",
          "shell",
          "cp",
          "batch",
          "logs",
          "events",
          "ports",
          "pause",
          "resume",
          "top",
          "rm",
          "keys",
          "secrets",
          "servers",
          "inspect",
          "status",
          "wait",
          "renew",
          "kill",
          MicrovmctlCommand.NAME,
          "complete");

  private final CliEnvironment environment;
  private final GlobalOptions globals = new GlobalOptions();
  private final CommandContext context;

  private Main(CliEnvironment environment) {
    this.environment = environment;
    this.context = new CommandContext(environment, globals);
  }

  public static void main(String[] args) {
    int code = execute(args, CliEnvironment.ofProcess());
    if (exitsImmediately(args) && System.getenv("ISOLA_DEBUG") == null) {
      NativeExit.exit(code);
    }
    System.exit(code);
  }

  /**
   * Runs one command and returns its exit code. All input and output goes through {@code
   * environment}.
   */
  public static int execute(String[] args, CliEnvironment environment) {
    return new Main(environment).execute(args);
  }

  /**
   * Returns the commands by name. Each is created only when needed, because reading the annotations
   * of all of them is slow.
   */
  static Map<String, Function<CommandContext, CommandLine>> commands() {
    Map<String, Function<CommandContext, CommandLine>> commands = new LinkedHashMap<>();
    commands.put("run", context -> stopAtPositional(new RunCommand(context)));
    commands.put("doctor", context -> new CommandLine(new DoctorCommand(context)));
    commands.put("providers", context -> new CommandLine(new ProvidersCommand(context)));
    commands.put("serve", context -> new CommandLine(new ServeCommand(context)));
    commands.put("mcp", context -> new CommandLine(new McpCommand(context)));
    commands.put("login", context -> new CommandLine(new LoginCommand(context)));
    commands.put("logout", context -> new CommandLine(new LogoutCommand(context)));
    commands.put("contexts", context -> new CommandLine(new ContextsCommand(context)));
    commands.put("create", context -> new CommandLine(new CreateCommand(context)));
    commands.put("ls", context -> new CommandLine(new ListCommand(context)));
    commands.put("inspect", context -> new CommandLine(new InspectCommand(context)));
    commands.put("status", context -> new CommandLine(new StatusCommand(context)));
    commands.put("wait", context -> new CommandLine(new WaitCommand(context)));
    commands.put("renew", context -> new CommandLine(new RenewCommand(context)));
    commands.put("exec", context -> stopAtPositional(new ExecCommand(context)));
    commands.put("shell", context -> stopAtPositional(new ShellCommand(context)));
    commands.put("cp", context -> new CommandLine(new CopyCommand(context)));
    commands.put("batch", context -> new CommandLine(new BatchCommand(context)));
    commands.put("logs", context -> new CommandLine(new LogsCommand(context)));
    commands.put("kill", context -> new CommandLine(new KillCommand(context)));
    commands.put("events", context -> new CommandLine(new EventsCommand(context)));
    commands.put("ports", context -> new CommandLine(new PortsCommand(context)));
    commands.put("egress", context -> new CommandLine(new EgressCommand(context)));
    commands.put("pause", context -> new CommandLine(new PauseCommand(context)));
    commands.put("resume", context -> new CommandLine(new ResumeCommand(context)));
    commands.put("top", context -> new CommandLine(new TopCommand(context)));
    commands.put("rm", context -> new CommandLine(new RemoveCommand(context)));
    commands.put("snapshot", SnapshotCommand::commandLine);
    commands.put("commit", context -> new CommandLine(new CommitCommand(context)));
    commands.put("volume", VolumeCommand::commandLine);
    commands.put("template", TemplateCommand::commandLine);
    commands.put("fork", context -> new CommandLine(new ForkCommand(context)));
    commands.put("keys", KeysCommand::commandLine);
    commands.put("secrets", SecretsCommand::commandLine);
    commands.put("servers", context -> new CommandLine(new ServersCommand(context)));
    commands.put("config", context -> new CommandLine(new ConfigCommand(context)));
    commands.put("image", ImageCommand::commandLine);
    commands.put("backup", context -> new CommandLine(new BackupCommand(context)));
    commands.put("restore", context -> new CommandLine(new RestoreCommand(context)));
    commands.put("purge", context -> new CommandLine(new PurgeCommand(context)));
    commands.put(MicrovmctlCommand.NAME, MicrovmctlCommand::commandLine);
    commands.put("conformance", context -> new CommandLine(new ConformanceCommand(context)));
    commands.put("bench", Main::bench);
    commands.put("completion", context -> new CommandLine(new CompletionCommand(context)));
    commands.put("complete", context -> stopAtPositional(new CompleteCommand(context)));
    commands.put("version", context -> new CommandLine(new VersionCommand(context)));
    commands.put("help", context -> new CommandLine(new HelpCommand(context)));
    commands.put("train", context -> new CommandLine(new TrainCommand(context)));
    commands.put("train-serve", context -> new CommandLine(new TrainServerCommand(context)));
    return commands;
  }

  /**
   * Stops option parsing at the first positional parameter: in {@code run ls -l}, {@code -l}
   * belongs to {@code ls}.
   */
  private static CommandLine stopAtPositional(CliCommand command) {
    return new CommandLine(command).setStopAtPositional(true);
  }

  /**
   * Looks up the benchmark command. Called only when it is named or listed, because scanning all
   * jars is slow.
   */
  private static CommandLine bench(CommandContext context) {
    for (CommandFactory factory : context.environment().commands()) {
      if (factory.name().equals("bench")) {
        return new CommandLine(factory.create(context));
      }
    }
    return new CommandLine(new NoBenchCommand());
  }

  private static CommandLine commandLine(
      String[] args, GlobalOptions globals, CommandContext context) {
    CommandLine line = new CommandLine(globals);
    Map<String, Function<CommandContext, CommandLine>> commands = commands();
    String first = args.length == 0 ? "" : args[0];
    if (commands.containsKey(first) && !NEED_ALL_COMMANDS.contains(first)) {
      commands.keySet().retainAll(Set.of(first));
    }
    commands.values().forEach(command -> line.addSubcommand(command.apply(context)));
    // In "run -- cat @file", @file is a literal argument, not an argument file.
    line.setExpandAtFiles(false);
    return line;
  }

  private static boolean exitsImmediately(String[] args) {
    return args.length > 0 && EXIT_IMMEDIATELY.contains(args[0]);
  }

  private int execute(String[] args) {
    try {
      UsageReport.rejectMissingCommand(args);
    } catch (UsageException e) {
      return fail(args, e.fault(), ExitCodes.USAGE, e, asksForJson(args));
    }
    try {
      ParseResult parsed = commandLine(args, globals, context).parseArgs(args);
      while (parsed.hasSubcommand()) {
        parsed = parsed.subcommand();
      }
      rejectUnknownCommand(parsed);
      if (globals.version) {
        return new VersionCommand(context).run();
      }
      if (globals.help || parsed.commandSpec().parent() == null) {
        return HelpCommand.show(parsed.commandSpec().commandLine(), context);
      }
      return ((CliCommand) parsed.commandSpec().userObject()).run();
    } catch (ParameterException e) {
      String path = environment.variables().getOrDefault("PATH", "");
      return fail(args, new UsageReport(path).of(e), ExitCodes.USAGE, e, asksForJson(args));
    } catch (UsageException e) {
      return fail(args, e.fault(), ExitCodes.USAGE, e, globals.json);
    } catch (SandboxException e) {
      return fail(args, e.fault(), ExitCodes.of(e), e, globals.json);
    } catch (RuntimeException | LinkageError e) {
      return fail(args, bug(e), ExitCodes.NOT_RUN, e, globals.json);
    }
  }

  /**
   * Rejects unknown commands next to {@code --help} and {@code --version}, which picocli ignores.
   */
  private static void rejectUnknownCommand(ParseResult parsed) {
    CommandLine line = parsed.commandSpec().commandLine();
    boolean named = parsed.unmatched().stream().anyMatch(word -> !word.startsWith("-"));
    if (named && !line.getSubcommands().isEmpty()) {
      throw new UnmatchedArgumentException(line, parsed.unmatched());
    }
  }

  private int fail(String[] args, Fault fault, int exitCode, Throwable cause, boolean json) {
    boolean controller = args.length > 0 && args[0].equals(MicrovmctlCommand.NAME);
    if (controller) {
      ErrorReport.writeJsonLine(environment, fault);
    } else {
      ErrorReport.write(environment, fault, json);
    }
    if ("1".equals(environment.variables().get("ISOLA_DEBUG"))) {
      ErrorReport.writeStackTrace(environment, cause);
    }
    return controller && exitCode != ExitCodes.TIMEOUT ? ExitCodes.NOT_RUN : exitCode;
  }

  /**
   * Looks for {@code --json} directly, because parsing may fail before the flag is reached.
   * Arguments after {@code --} belong to the command.
   */
  private static boolean asksForJson(String[] args) {
    for (String arg : args) {
      if (arg.equals("--")) {
        return false;
      }
      if (arg.equals("--json")) {
        return true;
      }
    }
    return false;
  }

  private static Fault bug(Throwable e) {
    return Fault.of(
        ErrorCode.INTERNAL,
        "internal error: " + e,
        "this is a bug; set ISOLA_DEBUG=1 to print the stack trace");
  }
}
