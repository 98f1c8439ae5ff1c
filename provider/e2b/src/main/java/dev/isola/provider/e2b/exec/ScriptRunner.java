package dev.isola.provider.e2b.exec;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.provider.e2b.rpc.RpcError;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Channel;
import dev.isola.spi.exec.Exit;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Runs small scripts in a sandbox for operations that envd does not provide. */
public final class ScriptRunner {
  private static final Map<String, String> PLAIN = Map.of("LC_ALL", "C");
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int MAX_OUTPUT = 16 << 20;
  private static final int MAX_ERROR = 64 * 1024;

  private final SandboxContext context;

  public ScriptRunner(SandboxContext context) {
    this.context = context;
  }

  /** The result of a script. */
  public record ScriptResult(int code, Bytes out, String err) {
    public boolean succeeded() {
      return code == 0;
    }

    public String text() {
      return out.utf8();
    }
  }

  /** Runs a script as the sandbox's user. */
  public ScriptResult run(String script, String... args) {
    return run(script, context.user(), List.of(args));
  }

  public ScriptResult run(String script, Optional<String> user, List<String> args) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (RunningScript following = start(script, user, args, Optional.of(TIMEOUT))) {
      for (var piece = following.next(); piece.isPresent(); piece = following.next()) {
        out.writeBytes(piece.get());
        if (out.size() > MAX_OUTPUT) {
          throw context
              .fault(
                  ErrorCode.RESOURCE_LIMIT, "the output of a helper program is too large", "retry")
              .exception();
        }
      }
      ScriptResult result = following.result();
      return new ScriptResult(result.code(), Bytes.of(out.toByteArray()), result.err());
    }
  }

  /** Runs a script as root, or as the sandbox's user if root is not available. */
  public ScriptResult runAsRoot(String script, String... args) {
    try {
      return run(script, Optional.of("root"), List.of(args));
    } catch (SandboxException e) {
      if (e.code() == ErrorCode.USER_NOT_FOUND || e.code() == ErrorCode.NOT_IMPLEMENTED) {
        return run(script, args);
      }
      throw e;
    }
  }

  /** Starts a script whose output is streamed. Without {@code timeout} there is no deadline. */
  public RunningScript start(
      String script, Optional<String> user, List<String> args, Optional<Duration> timeout) {
    ExecutionUser executionUser =
        ExecutionUser.of(user)
            .orElseThrow(() -> CommandStarter.unknownUser(context, user.orElse("")));
    ProcessStream.Start start =
        new ProcessStream.Start(
            executionUser.commandLine(script, args),
            PLAIN,
            false,
            Optional.empty(),
            Optional.empty(),
            timeout);
    try {
      return new RunningScript(ProcessStream.start(context.envd(), start, executionUser.name()));
    } catch (RpcError e) {
      throw CommandStarter.refused(context, e, user);
    }
  }

  /** A script whose output is read while it runs. */
  public final class RunningScript implements AutoCloseable {
    private final ProcessStream stream;
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private Optional<Exit> exit = Optional.empty();

    private RunningScript(ProcessStream stream) {
      this.stream = stream;
    }

    /** Waits for more output; empty at the end. */
    public Optional<byte[]> next() {
      while (exit.isEmpty()) {
        switch (event()) {
          case ProcessStream.Event.Started started -> {}
          case ProcessStream.Event.Ended ended -> exit = Optional.of(ended.exit());
          case ProcessStream.Event.Data(Channel channel, Bytes bytes) -> {
            if (channel == Channel.STDOUT) {
              return Optional.of(bytes.toArray());
            }
            err.write(bytes.toArray(), 0, Math.min(bytes.size(), MAX_ERROR - err.size()));
          }
        }
      }
      return Optional.empty();
    }

    private ProcessStream.Event event() {
      try {
        return stream.next();
      } catch (RpcError e) {
        throw CommandStarter.refused(context, e, Optional.empty());
      } catch (IOException e) {
        throw CommandStarter.disconnected(context, e);
      }
    }

    /** Returns the result after all output was read. */
    public ScriptResult result() {
      return new ScriptResult(
          exit.map(Exit::shellCode).orElse(0), Bytes.utf8(""), err.toString(UTF_8));
    }

    @Override
    public void close() {
      stream.close();
    }
  }
}
