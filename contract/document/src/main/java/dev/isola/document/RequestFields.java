package dev.isola.document;

import dev.isola.document.field.ObjectType;
import dev.isola.document.field.Type;
import dev.isola.document.field.Type.OneOf;
import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.document.request.McpServer;
import dev.isola.document.request.Placement;
import dev.isola.document.request.RestartPolicy;
import dev.isola.document.request.Workload;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Requirements;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.Egress;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecBounds;
import dev.isola.spi.spec.VolumeMount;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * The table of the fields of a create request. Reading, writing, the stored form, the form for
 * another machine, the OpenAPI document, the models of the SDKs and the reference page come from
 * it.
 *
 * <p>A type checks what a value alone shows. What concerns several fields is checked by {@link
 * dev.isola.document.request.RequestValidation} and {@link dev.isola.spi.spec.SpecValidation}.
 */
public final class RequestFields {
  private static final String V1 = "apiVersion v1";

  /** Of a document whose id was rejected. */
  private static final SandboxId NO_ID = new SandboxId("none");

  private static final Type.Text TEXT = Type.text();
  private static final Type<List<String>> TEXTS = Type.list(TEXT);
  private static final Type<Map<String, String>> TEXT_MAP = Type.entries(TEXT);
  private static final Type.Text ABSOLUTE =
      Type.matching("^/", Integer.MAX_VALUE, "must be an absolute path", "/workspace");

  private static final Type<SandboxId> ID =
      Type.matching(
              "^[a-z0-9]{1,32}$",
              32,
              "must be 1 to 32 lower-case letters and digits",
              "k3v9x2m7q4n8")
          .map(SandboxId::new, SandboxId::value);

  private static final Type<Path> HOST_PATH = TEXT.map(RequestFields::path, Path::toString);

  /** Names are checked with the whole spec, so that a message never contains a value. */
  private static final Type.Text VARIABLE =
      Type.matching(
              "^[A-Za-z_][A-Za-z0-9_]*$",
              Integer.MAX_VALUE,
              "must be the name of an environment variable",
              "LANG")
          .checkedLater();

  private static final Type.Text TAG_NAME =
      new Type.Text(
          128, false, Optional.of(Pattern.compile("\\S")), "must not be blank", "team", true);

  private static final Type<Secret> SECRET = TEXT.map(Secret::of, RequestFields::reveal);

  private static final Type<List<String>> DOMAINS =
      Type.list(
          Type.matching(
                  "^(\\*\\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)*"
                      + "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$",
                  253,
                  "must be a domain",
                  "pypi.org")
              .checkedLater());

  private static final Type<List<LimitKind>> LIMIT_KINDS =
      Type.list(Type.choice("LimitKind", LimitKind.class));

  private static final Type<ExpiryAction> ACTION = Type.choice("ExpiryAction", ExpiryAction.class);

  private static final Type<NetworkMode> NETWORK_MODE =
      Type.choice("NetworkMode", NetworkMode.class);

  private static final Type<Class<? extends Capability>> CAPABILITY =
      new Type.Choice<>("CapabilityName", Capability.all(), Capability::idOf);

  private static final Type.Decimal CORES = new Type.Decimal(0, SpecBounds.MAX_CPU);
  private static final Type.Whole MEMORY_MB = whole(SpecBounds.MEMORY_MB);
  private static final Type.Whole DISK_MB = whole(SpecBounds.DISK_MB);

  static final ObjectType<Limits> RESOURCES = resources();
  private static final ObjectType<Limits> RESOURCES_V1 = resourcesV1();
  private static final ObjectType<VolumeMount> VOLUME = volume();
  private static final ObjectType<McpServer> MCP_SERVER = mcpServer();
  private static final Type<Command> INIT = init();
  private static final ObjectType<Network> NETWORK = network();
  private static final ObjectType<Requirements> REQUIRE = require();

  /** The spec, with the parts of the request that are stored with it. */
  public static final ObjectType<CreateRequest> REQUEST = request();

  private RequestFields() {}

  private static ObjectType<CreateRequest> request() {
    var fields = new ObjectType.Fields<CreateRequest>();
    fields.defaulted(
        "apiVersion",
        new Type.Choice<>("ApiVersion", List.of(ApiVersion.values()), ApiVersion::wireName),
        "version of the spec; default v2",
        any -> ApiVersion.CURRENT);
    var id =
        fields
            .defaulted("id", ID, "sandbox id; generated if absent", spec(SandboxSpec::id))
            .deprecatedAlias("runtimeId", "use id instead")
            .notForBackend();
    var image =
        fields.optional(
            "image",
            Type.text(SpecBounds.LONGEST_IMAGE),
            "name of an image, or snapshot:ID",
            spec(SandboxSpec::image));
    var env =
        fields
            .defaulted(
                "env",
                Type.entries(TEXT).named(VARIABLE),
                "environment variables",
                spec(SandboxSpec::env))
            .example(Map.of("LANG", "C.UTF-8"))
            .confidential();
    var secretEnv =
        fields
            .defaulted(
                "secretEnv",
                Type.entries(SECRET).named(VARIABLE),
                "variables whose values are never returned; responses contain their names",
                spec(SandboxSpec::secretEnv))
            .secret();
    var cwd =
        fields.optional(
            "cwd", ABSOLUTE, "default working directory of commands", spec(SandboxSpec::cwd));
    var user =
        fields.optional(
            "user",
            Type.text(SpecBounds.LONGEST_USER),
            "default user of commands",
            spec(SandboxSpec::user));
    var workspacePath =
        fields
            .optional(
                "workspacePath",
                HOST_PATH,
                "folder of the host to use as workspace; requires scope admin",
                spec(SandboxSpec::workspacePath))
            .notForBackend();
    var workspaceMount =
        fields.defaulted(
            "workspaceMount",
            ABSOLUTE,
            "path of the workspace; default /workspace",
            spec(SandboxSpec::workspaceMount));
    var volumes =
        fields.defaulted("volumes", Type.list(VOLUME), "mounts", spec(SandboxSpec::volumes));
    var seedFiles =
        fields
            .defaulted(
                "seedFiles",
                Type.entries(new Type.Content()),
                "files to create, by path",
                spec(SandboxSpec::seedFiles))
            .confidential()
            .notForBackend();
    var init =
        fields
            .optional(
                "init",
                INIT,
                "command that must succeed before the sandbox is ready",
                spec(SandboxSpec::init))
            .confidential()
            .notForBackend();
    var startupTimeout =
        fields
            .defaulted(
                "startupTimeoutMs",
                Type.millis(),
                "time for the start, including init",
                spec(SandboxSpec::startupTimeout))
            .deprecatedAlias("startupTimeout", "use startupTimeoutMs instead")
            .notForBackend();
    var tags =
        fields
            .defaulted(
                "tags",
                Type.entries(Type.textOrBlank(1024)).named(TAG_NAME).atMost(64),
                "at most 64 tags to attach to the sandbox",
                CreateRequest::tags)
            .alias("metadata")
            .example(Map.of("team", "red"))
            .notForBackend();
    var ttl =
        fields
            .optional(
                "ttlSeconds",
                Type.seconds(),
                "lifetime; default: set by the operator",
                lifecycle(Lifecycle::ttl))
            .example(600)
            .notForBackend();
    var linger =
        fields.optional(
            "lingerSeconds",
            Type.seconds().orNone(),
            "time after which the sandbox ends if no server is connected to it",
            spec(SandboxSpec::linger));
    var autoResume =
        fields
            .defaulted(
                "autoResume",
                Type.flag(),
                "whether requests resume it; default false",
                lifecycle(Lifecycle::autoResume))
            .notForBackend();
    var whenIdle =
        fields
            .defaulted(
                "whenIdle",
                ACTION,
                "what happens after idleTimeoutSeconds",
                lifecycle(Lifecycle::whenIdle))
            .notForBackend();
    var whenExpired =
        fields
            .defaulted(
                "whenExpired",
                ACTION,
                "what happens after ttlSeconds",
                lifecycle(Lifecycle::whenExpired))
            .notForBackend();
    var resources =
        fields.defaulted(
            "resources",
            RESOURCES,
            "limits of the sandbox",
            spec(spec -> Limits.of(spec.limits())));
    var network =
        fields.defaulted("network", NETWORK, "network settings", spec(SandboxSpec::network));
    var workload =
        fields
            .defaulted(
                "containerType",
                Type.choice("Workload", Workload.class),
                "purpose of the sandbox",
                placement(Placement::workload))
            // Not shown: generators turn it into the name of containerType.
            .alias("container_type")
            .notForBackend();
    var mcp =
        fields
            .optional(
                "mcp",
                MCP_SERVER,
                "the server that a sandbox of containerType mcp_server hosts",
                CreateRequest::mcpServer)
            .notForBackend();
    var gpus =
        fields.defaulted(
            "gpus", integer(SpecBounds.GPUS), "number of GPUs", spec(SandboxSpec::gpus));
    var require =
        fields
            .defaulted(
                "require",
                REQUIRE,
                "properties that the provider must have",
                placement(Placement::requirements))
            .omittedIf(Requirements.NONE::equals)
            .notForBackend();
    fields
        .optional(
            "networkMode", NETWORK_MODE, V1 + " only; use network.mode", any -> Optional.empty())
        .onlyIn(V1);
    fields
        .optional(
            "resourceLimits", RESOURCES_V1, V1 + " only; use resources", any -> Optional.empty())
        .onlyIn(V1);

    return fields
        .as(
            "SandboxSpec",
            in -> {
              Optional<Limits> limits = in.find(resources);
              SandboxSpec.Builder spec = SandboxSpec.builder(in.get(id, NO_ID));
              in.find(image).ifPresent(spec::image);
              in.find(env).ifPresent(spec::env);
              in.find(secretEnv).ifPresent(spec::secretEnv);
              in.find(cwd).ifPresent(spec::cwd);
              in.find(user).ifPresent(spec::user);
              in.find(workspacePath).ifPresent(spec::workspacePath);
              in.find(workspaceMount).ifPresent(spec::workspaceMount);
              in.get(volumes, List.of()).forEach(spec::volume);
              in.get(seedFiles, Map.of()).forEach(spec::seedFile);
              in.find(init).ifPresent(spec::init);
              in.find(startupTimeout).ifPresent(spec::startupTimeout);
              in.find(linger).ifPresent(spec::linger);
              limits.map(Limits::limits).ifPresent(spec::limits);
              in.find(network).ifPresent(spec::network);
              in.find(gpus).ifPresent(spec::gpus);
              Requirements requirements = in.get(require, Requirements.NONE);
              CreateRequest.Builder request =
                  CreateRequest.builder(spec.buildUnchecked())
                      .lifecycle(
                          new Lifecycle(
                              in.find(ttl),
                              Optional.empty(),
                              in.get(whenIdle, ExpiryAction.DESTROY),
                              in.get(whenExpired, ExpiryAction.DESTROY),
                              in.get(autoResume, false)))
                      .placement(
                          Placement.DEFAULT
                              .withWorkload(in.get(workload, Workload.AGENT_WORKSPACE))
                              .withRequirements(
                                  limits
                                      .map(Limits::required)
                                      .map(requirements::and)
                                      .orElse(requirements)))
                      .tags(in.get(tags, Map.of()));
              in.find(mcp).ifPresent(request::mcpServer);
              return request.build();
            })
        .inRequests("CreateSandboxRequest");
  }

  private static ObjectType<VolumeMount> volume() {
    var fields = new ObjectType.Fields<VolumeMount>();
    var type =
        fields.defaulted(
            "type",
            Type.choice("VolumeType", VolumeMount.Type.class),
            "default bind",
            VolumeMount::type);
    var source =
        fields.defaulted(
            "source",
            TEXT,
            "host path of a bind mount, or name of a volume; none for tmpfs",
            VolumeMount::source);
    var destination =
        fields.required(
            "destination",
            ABSOLUTE.checkedLater(),
            "absolute path in the sandbox",
            VolumeMount::destination);
    var readOnly =
        fields
            .defaulted(
                "readonly",
                Type.flag(),
                "whether writing fails; default false",
                VolumeMount::readOnly)
            .deprecatedAlias("readOnly", "use readonly instead");
    return fields
        .orRejected(
            "VolumeMount",
            in -> {
              VolumeMount.Type kind = in.get(type, VolumeMount.Type.BIND);
              if (kind != VolumeMount.Type.TMPFS && !in.isGiven(source)) {
                return in.reject(source, "is missing");
              }
              return Optional.of(
                  new VolumeMount(
                      kind, in.get(source, ""), in.get(destination), in.get(readOnly, false)));
            })
        .inRequests("VolumeMountRequest");
  }

  /** The names of the fields are those of {@code mcpServers} in the files of agent programs. */
  private static ObjectType<McpServer> mcpServer() {
    var fields = new ObjectType.Fields<McpServer>();
    var program =
        fields
            .required(
                "command",
                Type.text(4096).checkedLater(),
                "program that speaks MCP on standard input and output",
                server -> server.command().program())
            .example("npx");
    var args =
        fields
            .defaulted(
                "args", TEXTS, "arguments; *** below scope use", server -> server.command().args())
            .example(List.of("-y", "@modelcontextprotocol/server-everything"))
            .confidential();
    var env =
        fields
            .defaulted(
                "env",
                TEXT_MAP,
                "additional environment variables; *** below scope use",
                server -> server.command().env())
            .confidential();
    var cwd =
        fields.optional(
            "cwd", ABSOLUTE.checkedLater(), "working directory", server -> server.command().cwd());
    var user =
        fields.optional(
            "user", TEXT, "user that runs the program", server -> server.command().user());
    var restart =
        fields.defaulted(
            "restart",
            Type.choice("RestartPolicy", RestartPolicy.class),
            "whether it is started again after it has exited; default always",
            McpServer::restart);
    return fields.as(
        "McpServer",
        in ->
            new McpServer(
                checked(
                    () ->
                        new Command(
                            Command.Mode.ARGV,
                            in.get(program),
                            in.get(args, List.of()),
                            in.get(env, Map.of()),
                            in.find(cwd),
                            in.find(user),
                            true,
                            Optional.empty(),
                            Optional.empty())),
                in.get(restart, RestartPolicy.ALWAYS)));
  }

  private static Type<Command> init() {
    return new OneOf<>(
        "InitCommand",
        "must be a string for the shell, or an object with command",
        List.of(
            new OneOf.Alternative<>(
                TEXT,
                text -> checked(() -> Command.shell(text)),
                command ->
                    Optional.of(command.program())
                        .filter(text -> command.equals(Command.shell(text)))),
            new OneOf.Alternative<>(initDetails(), command -> command, Optional::of)));
  }

  private static ObjectType<Command> initDetails() {
    var fields = new ObjectType.Fields<Command>();
    var mode =
        fields.defaulted(
            "mode",
            Type.choice("CommandMode", Command.Mode.class),
            "shell: a command line; argv: a program with args; default shell",
            Command::mode);
    var program =
        fields.required(
            "command", Type.text(1 << 20).checkedLater(), "the command", Command::program);
    var args = fields.defaulted("args", TEXTS, "arguments of the program", Command::args);
    var env = fields.defaulted("env", TEXT_MAP, "additional environment variables", Command::env);
    var cwd = fields.optional("cwd", TEXT, "working directory", Command::cwd);
    var user = fields.optional("user", TEXT, "user that runs the command", Command::user);
    var stdin = fields.defaulted("stdin", Type.flag(), "whether it has a stdin", Command::stdin);
    var timeout =
        fields.optional(
            "timeoutSeconds",
            Type.seconds().checkedLater(),
            "timeout of the command",
            Command::timeout);
    var tag = fields.optional("tag", TEXT, "a tag chosen by the client", Command::tag);
    return fields.as(
        "InitCommandDetails",
        in ->
            checked(
                () ->
                    new Command(
                        in.get(mode, Command.Mode.SHELL),
                        in.get(program),
                        in.get(args, List.of()),
                        in.get(env, Map.of()),
                        in.find(cwd),
                        in.find(user),
                        in.get(stdin, false),
                        in.find(timeout),
                        in.find(tag))));
  }

  /**
   * The section {@code resources}.
   *
   * @param required from an earlier location of {@code require.limits}
   */
  record Limits(ResourceLimits limits, Requirements required) {
    static Limits of(ResourceLimits limits) {
      return new Limits(limits, Requirements.NONE);
    }
  }

  private static ObjectType<Limits> resources() {
    var fields = new ObjectType.Fields<Limits>();
    var cpu =
        fields.defaulted(
            "cpu", CORES, "CPU cores; may be fractional; default 1", limit(ResourceLimits::cpu));
    var memory =
        fields.defaulted("memory", MEMORY_MB, "memory in MB", limit(ResourceLimits::memoryMb));
    var disk = fields.defaulted("disk", DISK_MB, "disk in MB", limit(ResourceLimits::diskMb));
    var files =
        fields.defaulted(
            "fileDescriptors",
            integer(SpecBounds.FILE_DESCRIPTORS),
            "open files per process",
            limit(ResourceLimits::fileDescriptors));
    var processes =
        fields.defaulted(
            "processes",
            integer(SpecBounds.PROCESSES),
            "processes started by commands, regardless of their threads",
            limit(ResourceLimits::processes));
    var threads =
        fields.defaulted(
            "threads",
            integer(SpecBounds.THREADS),
            "threads of all processes together",
            limit(ResourceLimits::threads));
    var bandwidth =
        fields.defaulted(
            "networkBandwidth",
            integer(SpecBounds.BANDWIDTH_MBPS),
            "Mbit/s",
            limit(ResourceLimits::bandwidthMbps));
    var timeout =
        fields.optional(
            "timeoutSeconds",
            Type.seconds(),
            "default timeout of a command",
            limit(ResourceLimits::timeout));
    var required =
        fields
            .defaulted(
                "required", LIMIT_KINDS, "use require.limits instead", any -> List.<LimitKind>of())
            .requestOnly()
            .deprecated();
    ResourceLimits defaults = ResourceLimits.DEFAULT;
    return fields
        .as(
            "ResourceLimits",
            in -> {
              int count = in.get(processes, defaults.processes());
              return new Limits(
                  new ResourceLimits(
                      in.get(cpu, defaults.cpu()),
                      in.get(memory, defaults.memoryMb()),
                      in.get(disk, defaults.diskMb()),
                      in.get(files, defaults.fileDescriptors()),
                      count,
                      in.get(threads, ResourceLimits.threadsFor(count)),
                      in.get(bandwidth, defaults.bandwidthMbps()),
                      in.find(timeout)),
                  Requirements.limits(in.get(required, List.of()).toArray(LimitKind[]::new)));
            })
        .inRequests("ResourceRequest");
  }

  /** Only shown: {@link SpecDocumentV1} migrates these fields before they are read. */
  private static ObjectType<Limits> resourcesV1() {
    var fields = new ObjectType.Fields<Limits>();
    fields.defaulted("cpuCount", CORES, "CPU cores", limit(ResourceLimits::cpu));
    fields.defaulted("memoryMB", MEMORY_MB, "memory in MB", limit(ResourceLimits::memoryMb));
    fields.defaulted("diskMB", DISK_MB, "disk in MB", limit(ResourceLimits::diskMb));
    fields.optional(
        "timeoutSeconds",
        Type.seconds(),
        "default timeout of a command",
        limit(ResourceLimits::timeout));
    return fields.orRejected("ResourceLimitsV1", in -> in.reject("belongs to " + V1));
  }

  private static ObjectType<Network> network() {
    var fields = new ObjectType.Fields<Network>();
    var mode =
        fields.optional(
            "mode",
            NETWORK_MODE,
            "host requires scope admin; default filtered if domains or egress are given",
            Network::mode);
    var allow =
        fields.defaulted(
            "allowDomains", DOMAINS, "the only domains that can be reached", Network::allowDomains);
    var block =
        fields.defaulted(
            "blockDomains", DOMAINS, "domains that cannot be reached", Network::blockDomains);
    var ports =
        fields.defaulted(
            "exposePorts",
            Type.list(integer(SpecBounds.PORT).checkedLater()),
            "the only ports that previews reach; default: all",
            Network::exposePorts);
    var enabled =
        fields
            .optional(
                "enabled",
                Type.flag(),
                "false for mode none, true for bridge; must not contradict mode",
                any -> Optional.empty())
            .requestOnly();
    var egress =
        fields
            .defaulted("egress", EgressDocument.SETTINGS, "rules of mode filtered", Network::egress)
            .omittedIf(Egress.NONE::equals);
    return fields
        .as(
            "Network",
            in -> {
              Optional<NetworkMode> named = in.find(mode);
              Optional<Boolean> on = in.find(enabled);
              if (named.isPresent()
                  && on.isPresent()
                  && on.get() == (named.get() == NetworkMode.NONE)) {
                in.reject(enabled, "contradicts network.mode");
              }
              return new Network(
                  named.or(() -> on.map(flag -> flag ? NetworkMode.BRIDGE : NetworkMode.NONE)),
                  in.get(allow, List.of()),
                  in.get(block, List.of()),
                  in.get(ports, List.of()),
                  in.get(egress, Egress.NONE));
            })
        .inRequests("NetworkRequest");
  }

  private static ObjectType<Requirements> require() {
    var fields = new ObjectType.Fields<Requirements>();
    var isolation =
        fields.defaulted(
            "isolation",
            Type.choice("Isolation", Isolation.class),
            "the weakest isolation that is allowed",
            Requirements::isolation);
    var capabilities =
        fields.defaulted(
            "capabilities",
            Type.list(CAPABILITY),
            "capabilities that the provider must have",
            require -> sorted(require.capabilities(), Comparator.comparing(Capability::idOf)));
    var limits =
        fields.defaulted(
            "limits",
            LIMIT_KINDS,
            "limits that the provider must enforce",
            require -> sorted(require.limits(), Comparator.naturalOrder()));
    return fields.as(
        "Requirements",
        in ->
            new Requirements(
                in.get(isolation, Isolation.PROCESS),
                Set.copyOf(in.get(capabilities, List.of())),
                Set.copyOf(in.get(limits, List.of()))));
  }

  /** Sorted, because the iteration order of a set differs between JVM runs. */
  private static <E> List<E> sorted(Set<E> all, Comparator<? super E> order) {
    return all.stream().sorted(order).toList();
  }

  private static <V> Function<CreateRequest, V> spec(Function<SandboxSpec, V> value) {
    return request -> value.apply(request.spec());
  }

  private static <V> Function<CreateRequest, V> lifecycle(Function<Lifecycle, V> value) {
    return request -> value.apply(request.lifecycle());
  }

  private static <V> Function<CreateRequest, V> placement(Function<Placement, V> value) {
    return request -> value.apply(request.placement());
  }

  private static <V> Function<Limits, V> limit(Function<ResourceLimits, V> value) {
    return limits -> value.apply(limits.limits());
  }

  private static Type.Whole whole(SpecBounds.Range range) {
    return Type.whole(range.least(), range.most());
  }

  private static Type.Int integer(SpecBounds.Range range) {
    return Type.integer(Math.toIntExact(range.least()), Math.toIntExact(range.most()));
  }

  private static String reveal(Secret secret) {
    return new String(secret.reveal(), StandardCharsets.UTF_8);
  }

  private static Path path(String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("is not a path: " + e.getReason(), e);
    }
  }

  /** Rejects what the Java type of a command rejects. */
  private static Command checked(Supplier<Command> command) {
    try {
      return command.get();
    } catch (InvalidRequest e) {
      throw new IllegalArgumentException("is rejected: " + e.fault().problem(), e);
    }
  }
}
