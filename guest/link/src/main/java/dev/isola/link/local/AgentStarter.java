package dev.isola.link.local;

import dev.isola.link.BootRecord;
import dev.isola.link.InstalledProgram;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Starts agents. The started process detaches and its parent exits at once, so that a running
 * sandbox costs this process neither a thread nor a descriptor.
 */
public final class AgentStarter {
  private static final Pattern READY =
      Pattern.compile("ready pid=(\\d+) start=(\\d+) namespaces=(\\S+)");
  private static final int MAX_OUTPUT = 1024;

  private final InstalledProgram agent;
  private final String instance;
  private final List<String> wrapper;

  public AgentStarter(Path binaries, String instance) {
    this(binaries, instance, List.of());
  }

  /**
   * Creates a starter whose agents are executed by another program.
   *
   * @param wrapper its command line, such as {@code unshare --net}; empty to execute agents
   *     directly
   */
  public AgentStarter(Path binaries, String instance, List<String> wrapper) {
    this.agent = InstalledProgram.agent(binaries);
    this.instance = instance;
    this.wrapper = List.copyOf(wrapper);
  }

  /**
   * Starts an agent that dials {@code folder.socket()} and returns once it is ready.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable with {@code SPAWN_FAILED} and the agent's
   *     message
   * @throws dev.isola.spi.error.DeadlineExceeded when it does not start in time
   */
  public AgentProcess start(SandboxId id, BootRecord boot, SandboxFolder folder, Duration timeout) {
    List<String> command = new ArrayList<>(wrapper);
    command.addAll(
        List.of(binary().toString(), "--detach", "--instance", instance, "--sandbox", id.value()));
    command.addAll(List.of("--dial", "unix:" + folder.socket()));
    return start(id, command, boot.encode(), timeout);
  }

  /**
   * Runs a program that starts an agent: it reads {@code input}, prints one line when the agent is
   * ready or has failed, and exits.
   */
  public static AgentProcess start(
      SandboxId id, List<String> command, byte[] input, Duration timeout) {
    Process launcher;
    try {
      launcher = builder(command).start();
    } catch (IOException e) {
      throw startFailed(id, "the agent cannot be executed: " + e.getMessage(), e);
    }
    try {
      try (OutputStream in = launcher.getOutputStream()) {
        in.write(input);
      }
      if (!launcher.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        throw startTimedOut(id, timeout);
      }
      byte[] line = launcher.getInputStream().readNBytes(MAX_OUTPUT);
      return parse(new String(line, StandardCharsets.UTF_8).strip(), id);
    } catch (IOException e) {
      throw startFailed(id, "the boot record cannot be sent to the agent: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "starting the agent was interrupted", "")
          .sandbox(id)
          .exception(e);
    } finally {
      launcher.destroyForcibly();
    }
  }

  /** Returns the agent's executable, installing it if necessary; verifies its content once. */
  public Path binary() {
    return agent.path();
  }

  /** Returns whether an agent can create namespaces on this machine. */
  public boolean namespacesAvailable() {
    try {
      Process probe = builder(List.of(binary().toString(), "--probe-namespaces")).start();
      try {
        return probe.waitFor(5, TimeUnit.SECONDS) && probe.exitValue() == 0;
      } finally {
        probe.destroyForcibly();
      }
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** The environment of this process is not inherited. */
  private static ProcessBuilder builder(List<String> command) {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().clear();
    builder.directory(Path.of("/").toFile());
    builder.redirectError(ProcessBuilder.Redirect.DISCARD);
    return builder;
  }

  /**
   * Parses the line printed by the program that started an agent.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable when the line reports a failure
   */
  public static AgentProcess parse(String line, SandboxId id) {
    Matcher ready = READY.matcher(line);
    if (!ready.matches()) {
      String reason = line.startsWith("error ") ? line.substring(6) : "unexpected output: " + line;
      throw startFailed(id, "the agent did not start: " + reason, null);
    }
    return new AgentProcess(
        Long.parseLong(ready.group(1)),
        Long.parseLong(ready.group(2)),
        ready.group(3).contains("pid"));
  }

  /** Returns the exception for an agent that did not start in time. */
  public static SandboxException startTimedOut(SandboxId id, Duration timeout) {
    return Fault.of(
            ErrorCode.DEADLINE_EXCEEDED,
            "the agent did not start within " + timeout.toMillis() + " ms",
            "raise startupTimeout, or reduce the load of this machine")
        .sandbox(id)
        .exception();
  }

  /** Returns the exception for an agent that could not be started. */
  public static SandboxException startFailed(
      SandboxId id, String problem, @Nullable Throwable cause) {
    return Fault.of(ErrorCode.SPAWN_FAILED, problem, "run isola doctor to see what is missing")
        .sandbox(id)
        .exception(cause);
  }
}
