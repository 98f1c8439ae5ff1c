package dev.isola.app;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.ExitCodes;
import dev.isola.link.local.TreeRemoval;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/**
 * Performs an AOT training run: executes the most common commands, silently and in a temporary
 * folder, while the JVM records which classes they load. The launcher builds its AOT cache from the
 * record. Failures are ignored.
 */
@Command(
    name = "train",
    hidden = true,
    description = "Run common commands to build the launcher's AOT cache.")
final class TrainCommand implements CliCommand {
  private static final List<List<String>> TRAINING_COMMANDS =
      List.of(
          List.of("run", "--", "true"),
          List.of("run", "--json", "--env", "A=b", "--timeout", "30s", "--", "echo", "hello"),
          List.of("run", "--workdir", "/nowhere", "--", "true"),
          List.of("run", "--no-such-option"),
          List.of("providers"),
          List.of("doctor"),
          List.of("version"),
          List.of("--help"),
          List.of("run", "--help"),
          List.of(
              "ls",
              "--server",
              "http://127.0.0.1:1"), // no server listens there; the request still loads the
          // client's classes
          List.of("complete", "--", "ls", "--server", "http://127.0.0.1:1", "--"),
          List.of("exec", "--server", "http://127.0.0.1:1", "nothing", "true"),
          List.of("microvmctl", "exec", "--id", "nothing", "--", "true"));

  private final CommandContext context;

  TrainCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    try {
      Path data = Files.createTempDirectory("isola-train");
      try {
        Map<String, String> env = new HashMap<>(context.environment().variables());
        env.put("ISOLA_DATA", data.toString());
        env.put("ISOLA_API_KEY", "none");
        env.put("ISOLA_URL", "http://127.0.0.1:1"); // the server of microvmctl, too
        for (List<String> command : TRAINING_COMMANDS) {
          Main.execute(command.toArray(new String[0]), silent(env));
        }
      } finally {
        TreeRemoval.remove(data);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return NativeExit.isLinked() ? ExitCodes.OK : ExitCodes.NOT_RUN;
  }

  private CliEnvironment silent(Map<String, String> env) {
    return new CliEnvironment(
        InputStream.nullInputStream(),
        OutputStream.nullOutputStream(),
        OutputStream.nullOutputStream(),
        CliEnvironment.TtyStatus.NONE,
        env,
        context.environment().factories());
  }
}
