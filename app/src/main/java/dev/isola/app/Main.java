package dev.isola.app;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Starts the isola command: reads the arguments, runs one action, turns its end into a code. */
public final class Main {
  private final Host host;
  private final Globals globals = new Globals();
  private final Wiring wiring;

  private Main(Host host) {
    this.host = host;
    this.wiring = new Wiring(host, globals);
  }

  public static void main(String[] args) {
    int code = execute(args, Host.ofProcess());
    if (isRun(args) && System.getenv("ISOLA_DEBUG") == null) {
      NativeExit.now(code);
    }
    System.exit(code);
  }

  /**
   * Runs one command and returns its exit code. Everything it reads and writes is in {@code host}.
   */
  static int execute(String[] args, Host host) {
    return new Main(host).execute(args);
  }

  private static CommandLine commandLine(String[] args, Globals globals, Wiring wiring) {
    CommandLine run = new CommandLine(new RunCommand(wiring));
    CommandLine line = new CommandLine(globals).addSubcommand(run);
    // What must start fast does not pay for reading the others' annotations.
    if (isServe(args)) {
      line.addSubcommand(new ServeCommand(wiring));
    } else if (!isRun(args)) {
      line.addSubcommand(new DoctorCommand(wiring))
          .addSubcommand(new ProvidersCommand(wiring))
          .addSubcommand(new ServeCommand(wiring))
          .addSubcommand(new ConfigCommand(wiring))
          .addSubcommand(ImageCommand.line(wiring))
          .addSubcommand(new ConformanceCommand(wiring))
          .addSubcommand(new BenchCommand(wiring))
          .addSubcommand(new CompletionCommand(wiring))
          .addSubcommand(new VersionCommand(wiring))
          .addSubcommand(new HelpCommand(wiring))
          .addSubcommand(new TrainCommand(wiring))
          .addSubcommand(new TrainServerCommand(wiring));
    }
    // "run -- cat @file" means the word @file, and "run ls -l" gives -l to ls.
    line.setExpandAtFiles(false);
    run.setStopAtPositional(true);
    return line;
  }

  private static boolean isRun(String[] args) {
    return args.length > 0 && args[0].equals("run");
  }

  private static boolean isServe(String[] args) {
    return args.length > 0 && args[0].equals("serve");
  }

  private int execute(String[] args) {
    try {
      ParseResult parsed = commandLine(args, globals, wiring).parseArgs(args);
      while (parsed.hasSubcommand()) {
        parsed = parsed.subcommand();
      }
      if (globals.version) {
        return new VersionCommand(wiring).run();
      }
      if (globals.help || parsed.commandSpec().parent() == null) {
        return HelpCommand.show(parsed.commandSpec().commandLine(), wiring);
      }
      return ((Action) parsed.commandSpec().userObject()).run();
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

  private int fail(Fault fault, int exitCode, Throwable cause, boolean json) {
    ErrorReport.write(host, fault, json);
    if ("1".equals(host.env().get("ISOLA_DEBUG"))) {
      ErrorReport.trace(host, cause);
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
