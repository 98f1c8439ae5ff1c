package dev.isola.app.remote;

import dev.isola.app.cli.Arguments;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.EgressOptions;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.FieldAssignment;
import dev.isola.app.cli.RunOptions;
import dev.isola.app.cli.UnenforcedLimit;
import dev.isola.app.cli.UsageException;
import dev.isola.client.Isola;
import dev.isola.client.SandboxInfo;
import dev.isola.client.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Implements {@code isola create}. */
@Command(
    name = "create",
    sortOptions = false,
    description = {
      "Create a sandbox on a server and print its id.",
      "Requires a server (see isola serve). To run a command without a server, use isola run."
    })
public final class CreateCommand extends RemoteCommand {
  /** The options that set limits, by the names of the limits in the API. */
  private static final Map<String, String> OPTIONS =
      Map.of(
          "cpu", "--cpu",
          "memory", "--memory",
          "disk", "--disk",
          "processes", "--processes",
          "threads", "--threads");

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description =
          "Name of the sandbox: letters, digits, '.', '_' and '-'. Commands accept it instead of"
              + " the id. Unique until the sandbox is destroyed.")
  private @Nullable String name;

  @Option(names = "--image", paramLabel = "IMAGE", description = "Image of the root file system.")
  private @Nullable String image;

  @Option(
      names = "--template",
      paramLabel = "NAME",
      description = "Template of the server, instead of an image. Other options override it.")
  private @Nullable String template;

  @Option(
      names = "--provider",
      paramLabel = "NAME",
      description = "Provider of the sandbox, or auto.")
  private @Nullable String provider;

  @Option(
      names = "--region",
      paramLabel = "NAME",
      description = "Use only providers that the operator labels with this region.")
  private @Nullable String region;

  @Option(
      names = "--isolation",
      paramLabel = "LEVEL",
      description = "Minimum isolation: process, container, kernel or vm.")
  private @Nullable String isolation;

  @Option(
      names = "--ttl",
      paramLabel = "TIME",
      description = "Time to live: 10m, 2h. Default: set by the server (sandbox.ttl).")
  private @Nullable String ttl;

  @Option(
      names = "--idle",
      paramLabel = "TIME",
      description = "Destroy the sandbox when it is idle for this time.")
  private @Nullable String idle;

  @Option(
      names = "--when-idle",
      paramLabel = "WHAT",
      description = "When idle, pause, stop or snapshot it instead. The next request resumes it.")
  private @Nullable String whenIdle;

  @Option(
      names = "--when-expired",
      paramLabel = "WHAT",
      description = "When expired, pause, stop or snapshot it instead of destroying it.")
  private @Nullable String whenExpired;

  @Option(
      names = "--auto-resume",
      description =
          "Requests resume it after it expired, and traffic to its ports whenever it is suspended.")
  private boolean autoResume;

  @Option(
      names = {"-e", "--env"},
      paramLabel = "NAME=VALUE",
      description = "Set an environment variable. Repeatable.")
  private List<String> env = new ArrayList<>();

  @Option(
      names = "--secret-env",
      paramLabel = "NAME",
      description =
          "Set an environment variable to the value it has in the environment of isola. The value"
              + " is neither printed nor stored in plain text. Repeatable.")
  private List<String> secretEnv = new ArrayList<>();

  @Option(
      names = "--secret",
      paramLabel = "VARIABLE=NAME",
      description =
          "Set an environment variable to a placeholder for a secret of the server; only the hosts"
              + " of the secret receive its value. Implies --network filtered. Repeatable.")
  private List<String> secrets = new ArrayList<>();

  @Option(
      names = "--tag",
      paramLabel = "NAME=VALUE",
      description = "Tag to attach to the sandbox. Repeatable.")
  private List<String> tags = new ArrayList<>();

  @Option(names = "--cpu", paramLabel = "N", description = "CPU limit in cores; may be a fraction.")
  private @Nullable String cpu;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "Memory limit: 512m, 2g, or a number of megabytes.")
  private @Nullable String memory;

  @Option(
      names = "--disk",
      paramLabel = "SIZE",
      description = "Disk limit: 512m, 2g, or a number of megabytes.")
  private @Nullable String disk;

  @Option(names = "--processes", paramLabel = "N", description = "Maximum number of processes.")
  private @Nullable String processes;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Maximum number of threads of all processes together.")
  private @Nullable String threads;

  @Option(
      names = {"-u", "--user"},
      paramLabel = "USER",
      description = "Run commands as this user (name, UID or user:group).")
  private @Nullable String user;

  @Option(
      names = {"-w", "--workdir"},
      paramLabel = "DIR",
      description = "Working folder of commands. Default: the workspace.")
  private @Nullable String workdir;

  @Option(
      names = "--mount",
      paramLabel = "SRC:DST[:ro]",
      description =
          "Mount a volume by name, or a folder of the server's host by absolute path (needs a key"
              + " with scope admin). Repeatable.")
  private List<String> mounts = new ArrayList<>();

  @Option(
      names = "--network",
      paramLabel = "MODE",
      completionCandidates = RunOptions.NetworkModes.class,
      description = "Network mode: none, filtered, bridge or host.")
  private @Nullable String network;

  @Mixin private EgressOptions egress = new EgressOptions();

  @Option(
      names = "--id",
      paramLabel = "ID",
      description = "Id of the sandbox: 1 to 32 characters of a-z and 0-9. Default: generated.")
  private @Nullable String id;

  @Option(
      names = "--set",
      paramLabel = "FIELD=VALUE",
      description =
          "Set any field of the request, such as gpus=1 or require.limits=memory,cpu. The value of"
              + " a secret field is the name of a variable in the environment of isola."
              + " Repeatable.")
  private List<String> fields = new ArrayList<>();

  @Option(
      names = "--spec",
      paramLabel = "FILE",
      description = "Read a JSON spec from this file, or - for stdin. Options override it.")
  private @Nullable String file;

  @Option(
      names = "--mcp",
      description =
          "Host the MCP server CMD, which speaks the protocol on stdin and stdout. Prints its URL"
              + " to stderr.")
  private boolean mcp;

  @Parameters(
      paramLabel = "CMD",
      arity = "0..*",
      description = "With --mcp: the program and its arguments, after --.")
  private List<String> command = new ArrayList<>();

  public CreateCommand(CommandContext context) {
    super(context);
  }

  @Override
  int run(Isola isola, Console console) {
    SandboxInfo created = isola.createAndDescribe(spec());
    if (console.json()) {
      console.print(created.document());
    } else {
      console.print(created.id() + "\n");
    }
    if (mcp) {
      String url = server.resolve(context.environment().variables()).url();
      console.printErr("MCP server at " + url + "/api/v1/sandboxes/" + created.id() + "/mcp");
    }
    if (console.verbose()) {
      console.printErr(
          "provider " + created.provider() + " (isolation: " + created.isolation() + ")");
    }
    if (created.document().get("unenforcedRequestedLimits") instanceof List<?> limits) {
      limits.forEach(limit -> warn(console, created, String.valueOf(limit)));
    }
    return ExitCodes.OK;
  }

  private static void warn(Console console, SandboxInfo created, String limit) {
    String option = OPTIONS.getOrDefault(limit, "resources." + limit);
    console.printErr(
        UnenforcedLimit.warning(option, created.provider(), limit, "the machine of the server"));
  }

  private SandboxSpec spec() {
    SandboxSpec.Builder spec = file == null ? SandboxSpec.builder() : read(file).toBuilder();
    if (name != null) {
      spec.name(name);
    }
    if (user != null) {
      spec.user(user);
    }
    if (workdir != null) {
      spec.cwd(workdir);
    }
    mounts.forEach(mount -> addMount(spec, mount));
    if (image != null) {
      spec.image(image);
    }
    if (template != null) {
      spec.template(template);
    }
    if (provider != null) {
      spec.provider(provider);
    }
    if (region != null) {
      spec.region(region);
    }
    if (isolation != null) {
      spec.requireIsolation(isolation);
    }
    if (ttl != null) {
      spec.ttl(Arguments.duration("--ttl", ttl));
    }
    if (idle != null) {
      spec.idleTimeout(Arguments.duration("--idle", idle));
    }
    if (whenIdle != null) {
      spec.whenIdle(whenIdle);
    }
    if (whenExpired != null) {
      spec.whenExpired(whenExpired);
    }
    if (autoResume) {
      spec.autoResume(true);
    }
    Arguments.variables("--env", env).forEach(spec::env);
    Arguments.inheritedVariables("--secret-env", secretEnv, context.environment().variables())
        .forEach(spec::secretEnv);
    Arguments.variables("--tag", tags).forEach(spec::tag);
    if (cpu != null) {
      spec.cpu(Arguments.decimal("--cpu", cpu));
    }
    if (memory != null) {
      spec.memoryMb(Arguments.megabytes("--memory", memory));
    }
    if (disk != null) {
      spec.diskMb(Arguments.megabytes("--disk", disk));
    }
    if (processes != null) {
      spec.processes(Arguments.integer("--processes", processes));
    }
    if (threads != null) {
      spec.threads(Arguments.integer("--threads", threads));
    }
    if (network != null) {
      spec.network(network);
    }
    Map<String, Object> settings = new LinkedHashMap<>(egress.document());
    if (!secrets.isEmpty()) {
      settings.put("secrets", Arguments.variables("--secret", secrets));
    }
    if (!settings.isEmpty()) {
      spec.egress(settings);
    }
    if (id != null) {
      spec.id(id);
    }
    for (String word : fields) {
      FieldAssignment one = FieldAssignment.parse("--set", word, context.environment().variables());
      spec.set(one.field(), one.value());
    }
    hostServer(spec);
    return spec.build();
  }

  private void hostServer(SandboxSpec.Builder spec) {
    if (mcp == command.isEmpty()) {
      throw mcp
          ? new UsageException("--mcp needs a command", "add it after --")
          : new UsageException(
              "unexpected argument '" + command.getFirst() + "'",
              "to host an MCP server, use --mcp; to run a command, use isola run or isola exec");
    }
    if (mcp) {
      spec.set("containerType", "mcp_server");
      spec.set(
          "mcp", Map.of("command", command.getFirst(), "args", command.subList(1, command.size())));
    }
  }

  private static void addMount(SandboxSpec.Builder spec, String text) {
    Arguments.Mount mount =
        Arguments.mount("--mount", text, "a volume, or a folder of the server's host");
    boolean hostFolder = mount.source().startsWith("/");
    if (!hostFolder && !VolumeMount.isValidName(mount.source())) {
      throw new UsageException(
          "--mount '" + text + "' has a relative path as SRC",
          "use an absolute path of the server's host, or the name of a volume such as"
              + " data:/data; isola cp copies files of this host into a sandbox");
    }
    spec.mount(mount.source(), mount.destination(), mount.readOnly());
  }

  private SandboxSpec read(String from) {
    if (from.equals("-")) {
      return SandboxSpec.read(context.environment().in());
    }
    try (InputStream in = Files.newInputStream(Arguments.hostPath("--spec", from))) {
      return SandboxSpec.read(in);
    } catch (IOException e) {
      throw new UsageException(
          "--spec " + from + " cannot be read", "use a file on this host, or - for stdin");
    }
  }
}
