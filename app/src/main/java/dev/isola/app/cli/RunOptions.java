package dev.isola.app.cli;

import dev.isola.document.EgressDocument;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.Violation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Options of {@code isola run}, and the spec and command built from them. */
public final class RunOptions {
  /**
   * TTL of a run's sandbox without {@code --timeout}: bounds what is left behind if every other
   * cleanup fails.
   */
  private static final Duration MAX_TTL = Duration.ofHours(24);

  private static final Duration CLEANUP_TIME = Duration.ofMinutes(1);

  /** Values of {@code --network}, for shell completion. */
  public static final class NetworkModes extends ArrayList<String> {
    private static final long serialVersionUID = 1L;

    NetworkModes() {
      super(List.of("none", "filtered", "bridge", "host"));
    }
  }

  /** Values of {@code --isolation}, for shell completion. */
  static final class IsolationLevels extends ArrayList<String> {
    private static final long serialVersionUID = 1L;

    IsolationLevels() {
      super(List.of("vm", "kernel", "container", "process"));
    }
  }

  @Option(
      names = "--provider",
      paramLabel = "NAME",
      description =
          "Provider of the sandbox. Default: the configured one, otherwise the strongest that works"
              + " here.")
  public @Nullable String provider;

  @Option(
      names = "--region",
      paramLabel = "NAME",
      description = "Use only providers that the configuration labels with this region.")
  public @Nullable String region;

  @Option(
      names = "--isolation",
      paramLabel = "LEVEL",
      completionCandidates = IsolationLevels.class,
      description =
          "Minimum isolation: vm, kernel, container or process (none). Default: container.")
  @Nullable String isolation;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Configuration file; see isola config --help.")
  public @Nullable String configFile;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Override a configuration value. Repeatable.")
  public List<String> settings = new ArrayList<>();

  @Option(
      names = {"-e", "--env"},
      paramLabel = "NAME=VALUE",
      description = "Set an environment variable. Repeatable.")
  List<String> env = new ArrayList<>();

  @Option(
      names = "--secret-env",
      paramLabel = "NAME",
      description =
          "Set an environment variable to the value it has in the environment of isola. The value"
              + " is neither printed nor stored in plain text. Repeatable.")
  List<String> secretEnv = new ArrayList<>();

  @Option(
      names = {"-w", "--workdir"},
      paramLabel = "DIR",
      description = "Working folder of the command. Default: the workspace.")
  @Nullable String workdir;

  @Option(
      names = "--workspace",
      paramLabel = "HOSTDIR",
      description = "Use a folder of this host as the workspace. Default: a new, empty folder.")
  @Nullable String workspace;

  @Option(
      names = "--mount",
      paramLabel = "SRC:DST[:ro]",
      description = "Mount a folder or file of this host into the sandbox. Repeatable.")
  List<String> mounts = new ArrayList<>();

  @Option(
      names = "--cpu",
      paramLabel = "N",
      description = "CPU limit in cores; may be a fraction. Default: 1.")
  @Nullable String cpu;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "Memory limit: 512m, 2g, or a number of megabytes. Default: 1024.")
  @Nullable String memory;

  @Option(
      names = "--processes",
      paramLabel = "N",
      description = "Maximum number of processes. Default: 100.")
  @Nullable String processes;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Maximum number of threads of all processes together. Default: 1024.")
  @Nullable String threads;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      description = "Kill the command after this time: 30s, 5m, 1h30m, 500ms.")
  @Nullable String timeout;

  @Option(
      names = {"-u", "--user"},
      paramLabel = "USER",
      description = "Run as this user (name, UID or user:group).")
  @Nullable String user;

  @Option(
      names = "--image",
      paramLabel = "IMAGE",
      description = "Image of the sandbox's root file system.")
  @Nullable String image;

  @Option(
      names = "--network",
      paramLabel = "MODE",
      completionCandidates = NetworkModes.class,
      description =
          "Network mode: none, filtered, bridge or host. Default: none if the provider supports"
              + " it.")
  @Nullable String network;

  @Mixin private final EgressOptions egress = new EgressOptions();

  @Option(
      names = {"-t", "--tty"},
      description = "Allocate a terminal; stdin and stdout must be terminals.")
  public boolean tty;

  @Parameters(
      paramLabel = "CMD",
      arity = "1..*",
      description = "Command and arguments, passed literally without a shell.")
  List<String> commandLine = new ArrayList<>();

  /**
   * Returns the command. Its variables are passed to the sandbox only and never stored in a spec.
   *
   * @param caller environment that secret variables are read from
   */
  public Command command(Map<String, String> caller) {
    Map<String, String> variables = new LinkedHashMap<>(Arguments.variables("--env", env));
    Arguments.inheritedVariables("--secret-env", secretEnv, caller)
        .forEach(
            (name, value) -> {
              if (variables.put(name, value) != null) {
                throw new UsageException(
                    "--secret-env " + name + " is also set with --env", "use only one of them");
              }
            });
    if (commandLine.getFirst().isEmpty()) {
      throw new UsageException("the command is empty", "name a program after the options");
    }
    Command command =
        Command.argv(commandLine.getFirst(), commandLine.subList(1, commandLine.size()));
    if (!variables.isEmpty()) {
      command = command.withEnv(variables);
    }
    if (workdir != null) {
      command = command.withCwd(workdir);
    }
    if (timeout != null) {
      command = command.withTimeout(Arguments.duration("--timeout", timeout));
    }
    return command;
  }

  /**
   * Returns the spec of a sandbox that does not outlive this process.
   *
   * @throws dev.isola.spi.error.InvalidRequest naming every invalid option
   */
  public SandboxSpec spec(SandboxId id) {
    SandboxSpec.Builder builder = SandboxSpec.builder(id);
    mounts.forEach(mount -> builder.volume(Arguments.mount("--mount", mount)));
    if (workspace != null) {
      builder.workspacePath(Arguments.hostPath("--workspace", workspace));
    }
    if (image != null) {
      builder.image(image);
    }
    if (user != null) {
      builder.user(user);
    }
    Duration ttl =
        timeout == null ? MAX_TTL : Arguments.duration("--timeout", timeout).plus(CLEANUP_TIME);
    SandboxSpec spec =
        builder
            .deadline(ttl)
            .linger(Duration.ZERO)
            .limits(limits())
            .network(network())
            .buildUnchecked();
    List<Violation> violations = new ArrayList<>(SpecValidation.violations(spec));
    violations.addAll(SpecValidation.hostViolations(spec));
    rejectInvalid(violations);
    return spec;
  }

  private Network network() {
    Optional<NetworkMode> mode =
        Optional.ofNullable(network).map(text -> Arguments.network("--network", text));
    Map<String, Object> settings = egress.document();
    return new Network(
        mode,
        List.of(),
        List.of(),
        List.of(),
        settings.isEmpty() ? Egress.NONE : EgressDocument.fromMap(settings));
  }

  /** Returns the limits set on the command line, each with its option. */
  public Map<LimitKind, String> requestedLimits() {
    Map<LimitKind, String> requested = new EnumMap<>(LimitKind.class);
    if (cpu != null) {
      requested.put(LimitKind.CPU, "--cpu");
    }
    if (memory != null) {
      requested.put(LimitKind.MEMORY, "--memory");
    }
    if (processes != null) {
      requested.put(LimitKind.PROCESSES, "--processes");
    }
    if (threads != null) {
      requested.put(LimitKind.THREADS, "--threads");
    }
    return requested;
  }

  /** Returns the minimum isolation set on the command line. */
  public Optional<Isolation> isolation() {
    if (isolation == null) {
      return Optional.empty();
    }
    for (Isolation level : Isolation.values()) {
      if (level.name().toLowerCase(Locale.ROOT).equals(isolation)) {
        return Optional.of(level);
      }
    }
    throw new UsageException(
        "--isolation is '" + isolation + "'",
        "use one of " + String.join(", ", new IsolationLevels()));
  }

  private ResourceLimits limits() {
    ResourceLimits limits = ResourceLimits.DEFAULT;
    if (cpu != null) {
      limits = limits.withCpu(Arguments.decimal("--cpu", cpu));
    }
    if (memory != null) {
      limits = limits.withMemoryMb(Arguments.megabytes("--memory", memory));
    }
    if (processes != null) {
      limits = limits.withProcesses(Arguments.integer("--processes", processes));
    }
    if (threads != null) {
      limits = limits.withThreads(Arguments.integer("--threads", threads));
    }
    return limits;
  }

  /** Rejects an invalid spec, naming the options instead of the spec's fields, all in one line. */
  private static void rejectInvalid(List<Violation> violations) {
    if (violations.isEmpty()) {
      return;
    }
    List<String> problems = new ArrayList<>();
    for (Violation violation : violations) {
      problems.add(option(violation.field()) + " " + violation.problem());
    }
    Fault fault =
        Fault.of(
            ErrorCode.INVALID_SPEC,
            String.join(", ", problems),
            violations.size() == 1 ? "correct it" : "correct all " + violations.size());
    for (Violation violation : violations) {
      fault = fault.with(violation.field(), violation.problem());
    }
    throw fault.exception();
  }

  private static String option(String field) {
    return switch (field) {
      case "image" -> "--image";
      case "user" -> "--user";
      case "workspacePath" -> "--workspace";
      case "volumes" -> "--mount";
      case "limits.cpu" -> "--cpu";
      case "limits.memoryMb" -> "--memory";
      case "limits.processes" -> "--processes";
      case "limits.threads" -> "--threads";
      case "ttl" -> "--timeout";
      default -> field;
    };
  }
}
