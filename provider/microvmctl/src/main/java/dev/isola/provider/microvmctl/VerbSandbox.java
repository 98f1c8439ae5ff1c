package dev.isola.provider.microvmctl;

import dev.isola.scripts.ShellWords;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.spec.SandboxSpec;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A sandbox without the guest agent: commands and files by the verbs of the contract. A command
 * ends with the process of the controller that runs it; it cannot be attached to, and signals other
 * than {@code KILL} are not supported. A program that does not exist is exit code 127.
 */
final class VerbSandbox implements Sandbox {
  /** Reads the variables of the sandbox, then runs the command in its folder. */
  private static final String WRAPPER =
      ". \"$1\" && cd -- \"$2\" || exit 126; shift 2; exec env \"$@\"";

  private static final Duration PING_TIMEOUT = Duration.ofSeconds(20);

  private final Controller controller;
  private final VmRecord record;
  private final FileSystem files;
  private volatile boolean destroyed;

  VerbSandbox(Controller controller, VmRecord record) {
    this.controller = controller;
    this.record = record;
    this.files = new VerbFiles(controller, record, this::requireExisting);
  }

  /**
   * Creates the folders of the spec, and stores the variables of every command in a file of the
   * sandbox: on this machine they would have to be stored in the clear.
   */
  void prepare(SandboxSpec spec, Duration timeout) {
    storeEnvironment(spec.environment(), timeout);
    files.makeFolder(spec.workspaceMount(), 0755);
    files.makeFolder(spec.workingFolder(), 0755);
  }

  private void storeEnvironment(Map<String, String> variables, Duration timeout) {
    StringBuilder script = new StringBuilder();
    variables.forEach(
        (name, value) -> {
          if (!name.matches("[A-Za-z_][A-Za-z0-9_]*")) {
            throw Fault.of(
                    ErrorCode.INVALID_SPEC,
                    "the variable '" + name + "' has a name that a shell cannot set",
                    "use letters, digits and underscores")
                .exception();
          }
          script
              .append("export ")
              .append(name)
              .append('=')
              .append(ShellWords.quote(value))
              .append('\n');
        });
    controller.write(
        record.vm(),
        environmentFile(),
        new ByteArrayInputStream(script.toString().getBytes(StandardCharsets.UTF_8)),
        timeout);
  }

  private String environmentFile() {
    return "/tmp/." + record.vm() + "/environment";
  }

  /** Runs a command that does nothing. */
  void ping() {
    requireExisting();
    Controller.Result result =
        controller.exec(record.vm(), PING_TIMEOUT, new byte[0], List.of("true"));
    if (result.exitCode() != 0) {
      SandboxException failure = controller.errors().of("exec", result.exitCode(), result.error());
      if (failure.code() == ErrorCode.SANDBOX_NOT_FOUND) {
        destroyed = true;
        throw gone();
      }
      throw failure;
    }
  }

  void markDestroyed() {
    destroyed = true;
  }

  private void requireExisting() {
    if (destroyed || record.deadline().isBefore(Instant.now())) {
      throw gone();
    }
  }

  private SandboxException gone() {
    return Fault.of(
            ErrorCode.SANDBOX_DESTROYED,
            "sandbox " + record.id() + " no longer exists",
            "create a new sandbox")
        .sandbox(record.id())
        .exception();
  }

  @Override
  public SandboxId id() {
    return record.id();
  }

  @Override
  public SandboxState state() {
    return destroyed ? SandboxState.DESTROYED : SandboxState.RUNNING;
  }

  @Override
  public Execution start(Command command) {
    requireExisting();
    if (command.user().isPresent()) {
      throw Capability.unsupported(MicrovmctlDescription.NAME, "running as another user");
    }
    Duration left = Duration.between(Instant.now(), record.deadline());
    Duration timeout =
        command.timeout().or(record::timeout).filter(time -> time.compareTo(left) < 0).orElse(left);
    return VerbExecution.start(
        controller, Controller.execLine(record.vm(), timeout, words(command)), command, timeout);
  }

  private List<String> words(Command command) {
    List<String> words =
        new ArrayList<>(
            List.of(
                "sh",
                "-c",
                WRAPPER,
                "sh",
                environmentFile(),
                command.cwd().map(this::absolute).orElse(record.folder())));
    command.env().forEach((name, value) -> words.add(name + "=" + value));
    List<String> argv = command.toArgv();
    if (argv.getFirst().indexOf('=') >= 0) { // env would take it for a variable
      words.addAll(List.of("sh", "-c", "exec \"$@\"", "sh"));
    }
    words.addAll(argv);
    return words;
  }

  private String absolute(String path) {
    return path.startsWith("/") ? path : record.folder() + "/" + path;
  }

  @Override
  public FileSystem files() {
    return files;
  }

  @Override
  public <C extends Capability> Optional<C> as(Class<C> capability) {
    return Optional.empty();
  }
}
