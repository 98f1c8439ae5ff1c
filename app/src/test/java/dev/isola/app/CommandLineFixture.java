package dev.isola.app;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.GlobalOptions;
import dev.isola.spi.Bytes;
import dev.isola.spi.provider.ProviderFactory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/**
 * Calls the command like a shell, but without a process: takes arguments, returns exit code and
 * output.
 */
public final class CommandLineFixture {
  /** Result of one call. */
  public record CommandResult(int code, Bytes rawOut, String err) {
    public String out() {
      return rawOut.utf8();
    }
  }

  public final Map<String, String> env = new HashMap<>();
  public CliEnvironment.TtyStatus interactive = CliEnvironment.TtyStatus.NONE;
  public InputStream in = InputStream.nullInputStream();
  public OutputStream brokenOut = OutputStream.nullOutputStream();
  public boolean outIsBroken;
  private final List<ProviderFactory> factories;

  public CommandLineFixture(Path data, ProviderFactory... factories) {
    this.factories = List.of(factories);
    env.put("ISOLA_DATA", data.toString());
  }

  public CommandLineFixture stdin(String text) {
    in = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    return this;
  }

  /** Returns what is wrong with the arguments of a command, which is parsed and does not run. */
  public Optional<String> syntaxError(List<String> args) {
    OutputStream none = OutputStream.nullOutputStream();
    GlobalOptions globals = new GlobalOptions();
    CommandLine line = new CommandLine(globals);
    var command = Main.commands().get(args.getFirst());
    if (command == null) {
      return Optional.of("there is no command " + args.getFirst());
    }
    line.addSubcommand(command.apply(new CommandContext(environment(none, none), globals)));
    line.setExpandAtFiles(false);
    try {
      line.parseArgs(args.toArray(String[]::new));
      return Optional.empty();
    } catch (ParameterException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  private CliEnvironment environment(OutputStream out, OutputStream err) {
    return new CliEnvironment(in, out, err, interactive, env, factories);
  }

  public CommandResult call(String... args) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int code = Main.execute(args, environment(outIsBroken ? brokenOut : out, err));
    return new CommandResult(
        code, Bytes.of(out.toByteArray()), err.toString(StandardCharsets.UTF_8));
  }
}
