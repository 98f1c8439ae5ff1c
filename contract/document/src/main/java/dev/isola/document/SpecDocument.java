package dev.isola.document;

import static java.util.Map.entry;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.document.request.McpServer;
import dev.isola.document.request.Placement;
import dev.isola.document.request.ProviderPreference;
import dev.isola.document.request.RequestValidation;
import dev.isola.document.request.RestartPolicy;
import dev.isola.document.request.TemplateReference;
import dev.isola.document.request.Workload;
import dev.isola.spi.Bytes;
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
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.Violation;
import dev.isola.spi.spec.VolumeMount;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The document form of a create request and its spec: a tree of maps, lists, strings, numbers and
 * booleans, as any JSON library returns it. API requests, files and stored records use this form.
 * The provider, the template, the idle timeout and the idempotency key of a request are not part of
 * the document.
 *
 * <p>{@code apiVersion} is {@code v1} or {@code v2}; the default is the current version, {@code
 * v2}. An older document is migrated before it is read, so providers never see the difference. All
 * fields of version 2 are optional:
 *
 * <pre>{@code
 * {
 *   "apiVersion": "v2",
 *   "id": "box1",                          // or runtimeId; generated if absent
 *   "image": "python:3.14",
 *   "env": {"LANG": "C.UTF-8"},
 *   "secretEnv": {"API_KEY": "..."},       // write-only: never written back
 *   "cwd": "/workspace/app",
 *   "user": "agent",
 *   "workspacePath": "/srv/project",
 *   "workspaceMount": "/workspace",
 *   "volumes": [{"type": "bind", "source": "/srv/data", "destination": "/data", "readonly": true}],
 *   "seedFiles": {"main.py": "print(1)", "logo.png": {"base64": "iVBORw=="}},
 *   "init": "pip install -r requirements.txt", // or {mode, command, args, env, cwd, user, stdin, timeoutSeconds, tag}
 *   "startupTimeoutMs": 60000,             // or startupTimeout
 *   "tags": {"team": "red"},               // or metadata
 *   "ttlSeconds": 600,
 *   "lingerSeconds": 30,
 *   "autoResume": false,                   // whether traffic to a port resumes a paused sandbox
 *   "whenIdle": "destroy",                 // or pause, stop, snapshot: the next request resumes it
 *   "whenExpired": "destroy",              // or the same; a resume call, or with autoResume any request, resumes it
 *   "resources": {"cpu": 0.5, "memory": 1024, "disk": 10240, "fileDescriptors": 1024, "processes": 100,
 *                 "threads": 1024, "networkBandwidth": 100, "timeoutSeconds": 30},   // MB and Mbit/s
 *   "network": {"mode": "bridge", "allowDomains": ["pypi.org"], "blockDomains": [], "exposePorts": [8000],
 *               "egress": {"default": "deny", "rules": [{"allow": "api.example.com", "ports": [443]}]}},
 *   "containerType": "agent_workspace",    // or container_type, or mcp_server
 *   "mcp": {"command": "npx", "args": ["-y", "server"], "env": {}, "cwd": "/workspace", "user": "agent",
 *           "restart": "always"},          // or on_failure, never; with containerType mcp_server
 *   "gpus": 0,
 *   "require": {"isolation": "container", "capabilities": ["pausing"], "limits": ["memory"]}
 * }
 * }</pre>
 *
 * <p>{@code network.enabled} may be given together with {@code mode} or instead of it: {@code
 * false} means mode {@code none}, and {@code true} without a mode means {@code bridge}. The two
 * must not contradict each other.
 */
public final class SpecDocument {
  /** The fields of {@code resources}. */
  private static final Map<LimitKind, String> LIMIT_FIELDS =
      Map.of(
          LimitKind.CPU, "cpu",
          LimitKind.MEMORY, "memory",
          LimitKind.DISK, "disk",
          LimitKind.FILE_DESCRIPTORS, "fileDescriptors",
          LimitKind.PROCESSES, "processes",
          LimitKind.THREADS, "threads",
          LimitKind.BANDWIDTH, "networkBandwidth",
          LimitKind.TIMEOUT, "timeoutSeconds");

  /** Names in the document that differ from those in {@link SpecValidation}. */
  private static final Map<String, String> DOCUMENT_NAMES =
      Map.ofEntries(
          entry("startupTimeout", "startupTimeoutMs"),
          entry("ttl", "ttlSeconds"),
          entry("linger", "lingerSeconds"),
          entry("limits.cpu", "resources.cpu"),
          entry("limits.memoryMb", "resources.memory"),
          entry("limits.diskMb", "resources.disk"),
          entry("limits.fileDescriptors", "resources.fileDescriptors"),
          entry("limits.processes", "resources.processes"),
          entry("limits.threads", "resources.threads"),
          entry("limits.bandwidthMbps", "resources.networkBandwidth"),
          entry("limits.timeout", "resources.timeoutSeconds"));

  /** The fields that version 1 does not have. */
  static final Map<String, String> ONLY_IN_V2 =
      Stream.of(
              "id",
              "runtimeId",
              "secretEnv",
              "cwd",
              "volumes",
              "seedFiles",
              "init",
              "startupTimeoutMs",
              "startupTimeout",
              "tags",
              "metadata",
              "ttlSeconds",
              "lingerSeconds",
              "autoResume",
              "whenIdle",
              "whenExpired",
              "resources",
              "network",
              "containerType",
              "container_type",
              "mcp",
              "gpus",
              "require")
          .collect(Collectors.toMap(name -> name, name -> "apiVersion v2"));

  private final DocumentReader in;

  private SpecDocument(DocumentReader in) {
    this.in = in;
  }

  /**
   * Reads a document of any supported version. Missing and null fields get their defaults.
   *
   * @param freshId supplies an id if the document has none
   * @throws dev.isola.spi.error.InvalidRequest with {@code INVALID_SPEC}, naming every field that
   *     is unknown, of the wrong type or invalid, by its name in the document
   */
  public static CreateRequest fromMap(Map<String, ?> document, Supplier<SandboxId> freshId) {
    return switch (version(document)) {
      case V1 -> {
        List<Violation> violations = new ArrayList<>();
        SpecDocumentV1.reportUnknownFields(document, violations);
        CreateRequest request = read(SpecDocumentV1.migrate(document), freshId, violations);
        SpecValidation.throwIfInvalid(
            violations.stream()
                .map(v -> new Violation(SpecDocumentV1.v1NameOf(v.field()), v.problem()))
                .toList());
        yield request;
      }
      case V2 -> {
        List<Violation> violations = new ArrayList<>();
        CreateRequest request = read(document, freshId, violations);
        SpecValidation.throwIfInvalid(violations);
        yield request;
      }
    };
  }

  /**
   * Writes {@code request} as a document of the current version. Defaults are written out, so that
   * a stored document keeps its meaning when defaults change. {@link #fromMap} reads it back as an
   * equal request, except for the properties that are not part of the document and for {@code
   * secretEnv}, which is omitted because documents are stored and shown.
   */
  public static Map<String, Object> toMap(CreateRequest request) {
    return SpecDocumentWriter.write(request);
  }

  /**
   * Returns the parts of a spec that another machine needs to create the sandbox, with the values
   * of its secret variables. Not to be stored or logged. Seed files and the init command are not
   * included, because the provider runs them itself.
   */
  public static Map<String, Object> forBackend(SandboxSpec spec) {
    return SpecDocumentWriter.writeForBackend(spec);
  }

  /** Returns the template reference of a request with this document. */
  public static TemplateReference template(String name, Map<String, ?> document) {
    Set<LimitKind> set = requestedLimits(document);
    return new TemplateReference(name, set.contains(LimitKind.CPU), set.contains(LimitKind.MEMORY));
  }

  /** Returns the limits that a request with this document sets itself, without defaults. */
  public static Set<LimitKind> requestedLimits(Map<String, ?> document) {
    Map<?, ?> current =
        version(document) == ApiVersion.V1 ? SpecDocumentV1.migrate(document) : document;
    Map<?, ?> resources = current.get("resources") instanceof Map<?, ?> given ? given : Map.of();
    Set<LimitKind> requested = EnumSet.noneOf(LimitKind.class);
    LIMIT_FIELDS.forEach(
        (kind, field) -> {
          if (resources.get(field) != null) {
            requested.add(kind);
          }
        });
    return requested;
  }

  private static ApiVersion version(Map<String, ?> document) {
    Object version = document.get("apiVersion");
    if (version == null) {
      return ApiVersion.CURRENT;
    }
    Optional<ApiVersion> known =
        version instanceof String text ? ApiVersion.parse(text) : Optional.empty();
    if (known.isEmpty()) {
      // Nothing else can be validated: the fields of an unknown version are unknown.
      String supported =
          Stream.of(ApiVersion.values())
              .map(ApiVersion::wireName)
              .collect(Collectors.joining(" and "));
      SpecValidation.throwIfInvalid(
          List.of(
              new Violation(
                  "apiVersion",
                  "is not supported: "
                      + DocumentReader.abbreviate(version)
                      + "; "
                      + supported
                      + " are")));
    }
    return known.orElse(ApiVersion.CURRENT);
  }

  private static CreateRequest read(
      Map<?, ?> document, Supplier<SandboxId> freshId, List<Violation> violations) {
    CreateRequest request =
        new SpecDocument(DocumentReader.of(document, violations)).request(freshId);
    for (Violation violation : RequestValidation.violations(request)) {
      String field = DOCUMENT_NAMES.getOrDefault(violation.field(), violation.field());
      violations.add(new Violation(field, violation.problem()));
    }
    return request;
  }

  private CreateRequest request(Supplier<SandboxId> freshId) {
    in.expect("apiVersion");
    Optional<Limits> resources = in.object("resources").map(SpecDocument::limits);
    SandboxSpec spec = spec(freshId, resources.map(Limits::limits));
    Lifecycle lifecycle =
        new Lifecycle(
            in.field(in::asSeconds, "ttlSeconds"),
            Optional.empty(),
            in.field(in.asOneOf(ExpiryAction.class), "whenIdle").orElse(ExpiryAction.DESTROY),
            in.field(in.asOneOf(ExpiryAction.class), "whenExpired").orElse(ExpiryAction.DESTROY),
            in.field(in::asFlag, "autoResume").orElse(false));
    Requirements requirements =
        in.object("require").map(SpecDocument::require).orElse(Requirements.NONE);
    Placement placement =
        new Placement(
            ProviderPreference.AUTO,
            in.field(in.asOneOf(Workload.class), "containerType", "container_type")
                .orElse(Workload.AGENT_WORKSPACE),
            resources.map(Limits::required).map(requirements::and).orElse(requirements),
            false,
            Optional.empty());
    Map<String, String> tags = in.entries(in::asText, "tags", "metadata");
    Optional<McpServer> server = in.object("mcp").flatMap(this::mcpServer);
    in.rejectUnknownFields(SpecDocumentV1.ONLY_IN_V1);
    return new CreateRequest(
        spec, lifecycle, placement, tags, Optional.empty(), Optional.empty(), server);
  }

  private SandboxSpec spec(Supplier<SandboxId> freshId, Optional<ResourceLimits> limits) {
    SandboxSpec.Builder spec =
        SandboxSpec.builder(in.field(this::asId, "id", "runtimeId").orElseGet(freshId));
    in.field(in::asText, "image").ifPresent(spec::image);
    spec.env(in.entries(in::asText, "env"));
    in.entries(in::asText, "secretEnv")
        .forEach((name, value) -> spec.secretEnv(name, Secret.of(value)));
    in.field(in::asText, "cwd").ifPresent(spec::cwd);
    in.field(in::asText, "user").ifPresent(spec::user);
    in.field(this::asPath, "workspacePath").ifPresent(spec::workspacePath);
    in.field(in::asText, "workspaceMount").ifPresent(spec::workspaceMount);
    in.list(this::asVolume, "volumes").forEach(spec::volume);
    in.entries(this::asContent, "seedFiles").forEach(spec::seedFile);
    in.field(this::asCommand, "init").ifPresent(spec::init);
    in.field(in::asMillis, "startupTimeoutMs", "startupTimeout").ifPresent(spec::startupTimeout);
    in.field(in::asSeconds, "lingerSeconds").ifPresent(spec::linger);
    limits.ifPresent(spec::limits);
    in.object("network").map(SpecDocument::network).ifPresent(spec::network);
    in.field(in::asInt, "gpus").ifPresent(spec::gpus);
    return spec.buildUnchecked();
  }

  private Optional<SandboxId> asId(String field, @Nullable Object value) {
    return in.asText(field, value)
        .flatMap(
            text ->
                SandboxId.isValid(text)
                    ? Optional.of(new SandboxId(text))
                    : in.reject(
                        field,
                        "must be 1 to 32 lower-case letters and digits: '"
                            + DocumentReader.abbreviate(text)
                            + "'"));
  }

  private Optional<Path> asPath(String field, @Nullable Object value) {
    return in.asText(field, value)
        .flatMap(
            text -> {
              try {
                return Optional.of(Path.of(text));
              } catch (InvalidPathException e) {
                return in.reject(field, "is not a path: " + e.getReason());
              }
            });
  }

  private Optional<VolumeMount> asVolume(String field, @Nullable Object value) {
    return in.asObject(field, value).flatMap(SpecDocument::volume);
  }

  private static Optional<VolumeMount> volume(DocumentReader in) {
    VolumeMount.Type type =
        in.field(in.asOneOf(VolumeMount.Type.class), "type").orElse(VolumeMount.Type.BIND);
    Optional<String> source =
        type == VolumeMount.Type.TMPFS
            ? Optional.of(in.field(in::asText, "source").orElse(""))
            : in.required(in::asText, "source");
    Optional<String> destination = in.required(in::asText, "destination");
    boolean readOnly = in.field(in::asFlag, "readonly", "readOnly").orElse(false);
    in.rejectUnknownFields();
    return source.flatMap(from -> destination.map(to -> new VolumeMount(type, from, to, readOnly)));
  }

  private Optional<Bytes> asContent(String field, @Nullable Object value) {
    return switch (value) {
      case String text -> Optional.of(Bytes.utf8(text));
      case Map<?, ?> object ->
          in.asObject(field, object)
              .flatMap(
                  content -> {
                    Optional<Bytes> bytes = content.required(this::asBase64, "base64");
                    content.rejectUnknownFields();
                    return bytes;
                  });
      case null, default -> in.reject(field, "must be a string, or an object with base64");
    };
  }

  private Optional<Bytes> asBase64(String field, @Nullable Object value) {
    return in.asText(field, value)
        .flatMap(
            text -> {
              try {
                return Optional.of(Bytes.of(Base64.getDecoder().decode(text)));
              } catch (IllegalArgumentException e) {
                return in.reject(field, "is not base64: " + e.getMessage());
              }
            });
  }

  private Optional<Command> asCommand(String field, @Nullable Object value) {
    return switch (value) {
      case String text -> checked(field, () -> Command.shell(text));
      case Map<?, ?> object -> in.asObject(field, object).flatMap(fields -> command(field, fields));
      case null, default ->
          in.reject(field, "must be a string for the shell, or an object with command");
    };
  }

  private Optional<Command> command(String field, DocumentReader in) {
    Command.Mode mode = in.field(in.asOneOf(Command.Mode.class), "mode").orElse(Command.Mode.SHELL);
    Optional<String> program = in.required(in::asText, "command");
    List<String> args = in.list(in::asText, "args");
    Map<String, String> env = in.entries(in::asText, "env");
    Optional<String> cwd = in.field(in::asText, "cwd");
    Optional<String> user = in.field(in::asText, "user");
    boolean stdin = in.field(in::asFlag, "stdin").orElse(false);
    Optional<Duration> timeout = in.field(in::asSeconds, "timeoutSeconds");
    Optional<String> tag = in.field(in::asText, "tag");
    in.rejectUnknownFields();
    return program.flatMap(
        text ->
            checked(
                field, () -> new Command(mode, text, args, env, cwd, user, stdin, timeout, tag)));
  }

  /** The names of the fields are those of {@code mcpServers} in the files of agent programs. */
  private Optional<McpServer> mcpServer(DocumentReader in) {
    Optional<String> program = in.required(in::asText, "command");
    List<String> args = in.list(in::asText, "args");
    Map<String, String> env = in.entries(in::asText, "env");
    Optional<String> cwd = in.field(in::asText, "cwd");
    Optional<String> user = in.field(in::asText, "user");
    RestartPolicy restart =
        in.field(in.asOneOf(RestartPolicy.class), "restart").orElse(RestartPolicy.ALWAYS);
    in.rejectUnknownFields();
    return program
        .flatMap(
            text ->
                checked(
                    "mcp",
                    () ->
                        new Command(
                            Command.Mode.ARGV,
                            text,
                            args,
                            env,
                            cwd,
                            user,
                            true,
                            Optional.empty(),
                            Optional.empty())))
        .map(command -> new McpServer(command, restart));
  }

  private Optional<Command> checked(String field, Supplier<Command> command) {
    try {
      return Optional.of(command.get());
    } catch (InvalidRequest e) {
      return in.reject(field, "is rejected: " + e.fault().problem());
    }
  }

  /**
   * The section {@code resources}.
   *
   * @param required from an earlier location of {@code require.limits}
   */
  private record Limits(ResourceLimits limits, Requirements required) {}

  private static Limits limits(DocumentReader resources) {
    ResourceLimits defaults = ResourceLimits.DEFAULT;
    int processes = resources.field(resources::asInt, "processes").orElse(defaults.processes());
    ResourceLimits limits =
        new ResourceLimits(
            resources.field(resources::asDecimal, "cpu").orElse(defaults.cpu()),
            resources.field(resources::asLong, "memory").orElse(defaults.memoryMb()),
            resources.field(resources::asLong, "disk").orElse(defaults.diskMb()),
            resources.field(resources::asInt, "fileDescriptors").orElse(defaults.fileDescriptors()),
            processes,
            resources
                .field(resources::asInt, "threads")
                .orElse(ResourceLimits.threadsFor(processes)),
            resources.field(resources::asInt, "networkBandwidth").orElse(defaults.bandwidthMbps()),
            resources.field(resources::asSeconds, "timeoutSeconds"));
    List<LimitKind> required = resources.list(resources.asOneOf(LimitKind.class), "required");
    resources.rejectUnknownFields();
    return new Limits(limits, Requirements.limits(required.toArray(LimitKind[]::new)));
  }

  private static Requirements require(DocumentReader in) {
    Requirements read =
        new Requirements(
            in.field(in.asOneOf(Isolation.class), "isolation").orElse(Isolation.PROCESS),
            Set.copyOf(in.list((field, value) -> capability(in, field, value), "capabilities")),
            Set.copyOf(in.list(in.asOneOf(LimitKind.class), "limits")));
    in.rejectUnknownFields();
    return read;
  }

  private static Optional<Class<? extends Capability>> capability(
      DocumentReader in, String field, @Nullable Object value) {
    List<String> known = Capability.all().stream().map(Capability::idOf).toList();
    return in.asText(field, value)
        .flatMap(
            text ->
                Capability.withId(text)
                    .or(
                        () ->
                            in.reject(
                                field,
                                "must be one of "
                                    + String.join(", ", known)
                                    + ": "
                                    + DocumentReader.abbreviate(text)
                                    + Suggestion.hint(text, known))));
  }

  private static Network network(DocumentReader network) {
    Optional<NetworkMode> mode = network.field(network.asOneOf(NetworkMode.class), "mode");
    Optional<Boolean> enabled = network.field(network::asFlag, "enabled");
    if (mode.isPresent()
        && enabled.isPresent()
        && enabled.get() == (mode.get() == NetworkMode.NONE)) {
      network.reject("network.enabled", "contradicts network.mode");
    }
    Optional<NetworkMode> meant =
        mode.or(() -> enabled.map(on -> on ? NetworkMode.BRIDGE : NetworkMode.NONE));
    Network read =
        new Network(
            meant,
            network.list(network::asText, "allowDomains"),
            network.list(network::asText, "blockDomains"),
            network.list(network::asInt, "exposePorts"),
            network.object("egress").map(EgressDocument::read).orElse(Egress.NONE));
    network.rejectUnknownFields();
    return read;
  }
}
