package dev.isola.app;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.CommandFactory;
import dev.isola.app.cli.ErrorReport;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.GlobalOptions;
import dev.isola.app.cli.HelpCommand;
import dev.isola.app.cli.UsageException;
import dev.isola.app.cli.VersionCommand;
import dev.isola.app.local.RunCommand;
import dev.isola.app.operate.ConfigCommand;
import dev.isola.app.operate.ConformanceCommand;
import dev.isola.app.operate.DoctorCommand;
import dev.isola.app.operate.ImageCommand;
import dev.isola.app.operate.ProvidersCommand;
import dev.isola.app.remote.ContextsCommand;
import dev.isola.app.remote.CopyCommand;
import dev.isola.app.remote.CreateCommand;
import dev.isola.app.remote.EventsCommand;
import dev.isola.app.remote.ExecCommand;
import dev.isola.app.remote.ForkCommand;
import dev.isola.app.remote.KeysCommand;
import dev.isola.app.remote.ListCommand;
import dev.isola.app.remote.LoginCommand;
import dev.isola.app.remote.LogoutCommand;
import dev.isola.app.remote.LogsCommand;
import dev.isola.app.remote.PauseCommand;
import dev.isola.app.remote.PortsCommand;
import dev.isola.app.remote.RemoveCommand;
import dev.isola.app.remote.ResumeCommand;
import dev.isola.app.remote.ShellCommand;
import dev.isola.app.remote.SnapshotCommand;
import dev.isola.app.remote.TemplateCommand;
import dev.isola.app.remote.TopCommand;
import dev.isola.app.remote.VolumeCommand;
import dev.isola.app.serve.ServeCommand;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
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
  private static final Set<String> KNOW_ALL = Set.of("help", "completion");

  /**
   * Commands after which some thread is still in native code, which makes {@code System.exit} slow.
   */
  private static final Set<String> QUICK =
      Set.of(
          "run", "login", "create", "ls", "exec", "shell", "cp", "logs", "events", "ports", "pause",
          "resume", "top", "rm", "keys");

  private final CliEnvironment host;
  private final GlobalOptions globals = new GlobalOptions();
  private final CommandContext wiring;

  private Main(CliEnvironment host) {
    this.host = host;
    this.wiring = new CommandContext(host, globals);
  }

  public static void main(String[] args) {
    int code = execute(args, CliEnvironment.ofProcess());
    if (isQuick(args) && System.getenv("ISOLA_DEBUG") == null) {
      NativeExit.exit(code);
    }
    System.exit(code);
  }

  /**
   * Runs one command and returns its exit code. All input and output goes through {@code
   * environment}.
   */
  public static int execute(String[] args, CliEnvironment host) {
    return new Main(host).execute(args);
  }

  /**
   * Returns the commands by name. Each is created only when needed, because reading the annotations
   * of all of them is slow.
   */
  private static Map<String, Function<CommandContext, CommandLine>> commands() {
    Map<String, Function<CommandContext, CommandLine>> commands = new LinkedHashMap<>();
    commands.put("run", wiring -> words(new RunCommand(wiring)));
    commands.put("doctor", wiring -> new CommandLine(new DoctorCommand(wiring)));
    commands.put("providers", wiring -> new CommandLine(new ProvidersCommand(wiring)));
    commands.put("serve", wiring -> new CommandLine(new ServeCommand(wiring)));
    commands.put("login", wiring -> new CommandLine(new LoginCommand(wiring)));
    commands.put("logout", wiring -> new CommandLine(new LogoutCommand(wiring)));
    commands.put("contexts", wiring -> new CommandLine(new ContextsCommand(wiring)));
    commands.put("create", wiring -> new CommandLine(new CreateCommand(wiring)));
    commands.put("ls", wiring -> new CommandLine(new ListCommand(wiring)));
    commands.put("exec", wiring -> words(new ExecCommand(wiring)));
    commands.put("shell", wiring -> words(new ShellCommand(wiring)));
    commands.put("cp", wiring -> new CommandLine(new CopyCommand(wiring)));
    commands.put("logs", wiring -> new CommandLine(new LogsCommand(wiring)));
    commands.put("events", wiring -> new CommandLine(new EventsCommand(wiring)));
    commands.put("ports", wiring -> new CommandLine(new PortsCommand(wiring)));
    commands.put("pause", wiring -> new CommandLine(new PauseCommand(wiring)));
    commands.put("resume", wiring -> new CommandLine(new ResumeCommand(wiring)));
    commands.put("top", wiring -> new CommandLine(new TopCommand(wiring)));
    commands.put("rm", wiring -> new CommandLine(new RemoveCommand(wiring)));
    commands.put("snapshot", SnapshotCommand::commandLine);
    commands.put("volume", VolumeCommand::commandLine);
    commands.put("template", TemplateCommand::commandLine);
    commands.put("fork", wiring -> new CommandLine(new ForkCommand(wiring)));
    commands.put("keys", KeysCommand::commandLine);
    commands.put("config", wiring -> new CommandLine(new ConfigCommand(wiring)));
    commands.put("image", ImageCommand::commandLine);
    commands.put("conformance", wiring -> new CommandLine(new ConformanceCommand(wiring)));
    commands.put("bench", Main::bench);
    commands.put("completion", wiring -> new CommandLine(new CompletionCommand(wiring)));
    commands.put("version", wiring -> new CommandLine(new VersionCommand(wiring)));
    commands.put("help", wiring -> new CommandLine(new HelpCommand(wiring)));
    commands.put("train", wiring -> new CommandLine(new TrainCommand(wiring)));
    commands.put("train-serve", wiring -> new CommandLine(new TrainServerCommand(wiring)));
    return commands;
  }

  /**
   * Stops option parsing at the first positional parameter: in {@code run ls -l}, {@code -l}
   * belongs to {@code ls}.
   */
  private static CommandLine words(CliCommand command) {
    return new CommandLine(command).setStopAtPositional(true);
  }

  /**
   * Looks up the benchmark command. Called only when it is named or listed, because scanning all
   * jars is slow.
   */
  private static CommandLine bench(CommandContext wiring) {
    for (CommandFactory factory : wiring.environment().commands()) {
      if (factory.name().equals("bench")) {
        return new CommandLine(factory.create(wiring));
      }
    }
    return new CommandLine(new NoBenchCommand());
  }

  private static CommandLine commandLine(
      String[] args, GlobalOptions globals, CommandContext wiring) {
    CommandLine line = new CommandLine(globals);
    Map<String, Function<CommandContext, CommandLine>> commands = commands();
    String first = args.length == 0 ? "" : args[0];
    if (commands.containsKey(first) && !KNOW_ALL.contains(first)) {
      commands.keySet().retainAll(Set.of(first));
    }
    commands.values().forEach(command -> line.addSubcommand(command.apply(wiring)));
    // In "run -- cat @file", @file is a literal argument, not an argument file.
    line.setExpandAtFiles(false);
    return line;
  }

  private static boolean isQuick(String[] args) {
    return args.length > 0 && QUICK.contains(args[0]);
  }

  private int execute(String[] args) {
    try {
      ParseResult parsed = commandLine(args, globals, wiring).parseArgs(args);
      while (parsed.hasSubcommand()) {
        parsed = parsed.subcommand();
      }
      refuseUnknownCommand(parsed);
      if (globals.version) {
        return new VersionCommand(wiring).run();
      }
      if (globals.help || parsed.commandSpec().parent() == null) {
        return HelpCommand.show(parsed.commandSpec().commandLine(), wiring);
      }
      return ((CliCommand) parsed.commandSpec().userObject()).run();
    } catch (ParameterException e) {
      return fail(usage(e), ExitCodes.USAGE, e, asksForJson(args));
    } catch (UsageException e) {
      return fail(e.fault(), ExitCodes.USAGE, e, globals.json);
    } catch (SandboxException e) {
      return fail(e.fault(), ExitCodes.of(e), e, globals.json);
    } catch (RuntimeException | LinkageError e) {
      return fail(bug(e), ExitCodes.NOT_RUN, e, globals.json);
    }
  }

  /**
   * Rejects unknown commands next to {@code --help} and {@code --version}, which picocli ignores.
   */
  private static void refuseUnknownCommand(ParseResult parsed) {
    CommandLine line = parsed.commandSpec().commandLine();
    boolean named = parsed.unmatched().stream().anyMatch(word -> !word.startsWith("-"));
    if (named && !line.getSubcommands().isEmpty()) {
      throw new UnmatchedArgumentException(line, parsed.unmatched());
    }
  }

  private int fail(Fault fault, int exitCode, Throwable cause, boolean json) {
    ErrorReport.write(host, fault, json);
    if ("1".equals(host.variables().get("ISOLA_DEBUG"))) {
      ErrorReport.writeStackTrace(host, cause);
    }
    return exitCode;
  }

  private static Fault usage(ParameterException e) {
    String command = e.getCommandLine().getCommandSpec().qualifiedName();
    String what = plain(e.getMessage());
    String remedy = "see " + command + " --help";
    if (e instanceof UnmatchedArgumentException unmatched) {
      String word = unmatched.getUnmatched().getFirst();
      if (!e.getCommandLine().getSubcommands().isEmpty() && !word.startsWith("-")) {
        what = "unknown command '" + (command + " " + word).substring("isola ".length()) + "'";
      }
      List<String> near = unmatched.getSuggestions();
      if (!near.isEmpty()) {
        remedy = "did you mean " + String.join(" or ", near) + "? See " + command + " --help";
      }
    }
    return Fault.of(ErrorCode.INVALID_REQUEST, what, remedy);
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

  /**
   * Lowercases the first letter: picocli's messages are sentences, but here they follow "isola: ".
   */
  private static String plain(@Nullable String message) {
    return message == null || message.isEmpty()
        ? "the command line cannot be parsed"
        : Character.toLowerCase(message.charAt(0)) + message.substring(1);
  }

  private static Fault bug(Throwable e) {
    return Fault.of(
        ErrorCode.INTERNAL,
        "internal error: " + e,
        "this is a bug; set ISOLA_DEBUG=1 to print the stack trace");
  }
}
