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

/** Starts the isola command: reads the arguments, runs one action, turns its end into a code. */
public final class Main {
  /** These speak of the others. */
  private static final Set<String> KNOW_ALL = Set.of("help", "completion");

  /** After these a thread is in native code, for which the usual end waits. */
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
   * Runs one command and returns its exit code. Everything it reads and writes is in {@code host}.
   */
  public static int execute(String[] args, CliEnvironment host) {
    return new Main(host).execute(args);
  }

  /** The commands, each made when it is needed: reading all their annotations takes a while. */
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

  /** "run ls -l" gives -l to ls. */
  private static CommandLine words(CliCommand command) {
    return new CommandLine(command).setStopAtPositional(true);
  }

  /** Asks for benchmarks only when they are named or listed: a search of all jars takes a while. */
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
    // "run -- cat @file" means the word @file.
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

  /** Picocli lets unknown words pass beside --help and --version. */
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
        what = "there is no command '" + (command + " " + word).substring("isola ".length()) + "'";
      }
      List<String> near = unmatched.getSuggestions();
      if (!near.isEmpty()) {
        remedy = "did you mean " + String.join(" or ", near) + "? See " + command + " --help";
      }
    }
    return Fault.of(ErrorCode.INVALID_REQUEST, what, remedy);
  }

  /** A parse error may come before the flag has been seen; words after "--" are not ours. */
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

  /** Picocli's messages are sentences; ours go on after "isola: ". */
  private static String plain(@Nullable String message) {
    return message == null || message.isEmpty()
        ? "the command line is not understood"
        : Character.toLowerCase(message.charAt(0)) + message.substring(1);
  }

  private static Fault bug(Throwable e) {
    return Fault.of(
        ErrorCode.INTERNAL,
        "internal error: " + e,
        "this is a bug; set ISOLA_DEBUG=1 to see where it happened");
  }
}
