package dev.isola.server.api;

import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.RestartPolicy;
import dev.isola.document.request.Workload;
import dev.isola.server.route.ContentShape;
import dev.isola.server.route.DecimalShape;
import dev.isola.server.route.MatchingText;
import dev.isola.server.route.OneOfShape;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.LimitKind;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.exec.Command;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.VolumeMount;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Shapes of the spec document in requests and in responses. {@link dev.isola.document.SpecDocument}
 * reads and validates it; a test compares the two.
 */
final class SpecShapes {
  /** Ten years, which is the longest duration in a spec. */
  private static final long MAX_SECONDS = 315_360_000;

  private static final double NANOSECOND = 1e-9;
  private static final int UNLIMITED = Integer.MAX_VALUE;

  private static final Shape TEXT = Shapes.TEXT;
  private static final Shape SECONDS = new DecimalShape(NANOSECOND, MAX_SECONDS);
  private static final Shape ABSOLUTE =
      new MatchingText("^/", 1 << 20, "must be an absolute path", "/workspace");
  private static final Shape IMAGE = new Shape.NonEmptyText(512);
  private static final Shape USER = new Shape.NonEmptyText(128);
  private static final Shape LIMITS =
      new Shape.ListOf(choice("LimitKind", LimitKind.values()), UNLIMITED);

  static final Shape VARIABLES =
      new Shape.MapOf(
          TEXT,
          new MatchingText(
              "^[A-Za-z_][A-Za-z0-9_]*$",
              1 << 20,
              "must be the name of an environment variable",
              "LANG"));

  private static final Shape TAGS =
      new Shape.MapOf(
          new Shape.Text(1024, ""), new MatchingText("\\S", 128, "must not be blank", "team"));

  private static final Shape DOMAINS =
      new Shape.ListOf(
          new MatchingText(
              "^(\\*\\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)*"
                  + "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$",
              253,
              "must be a domain",
              "pypi.org"),
          UNLIMITED);

  private static final Shape.Obj RESOURCES =
      new Shape.Obj(
          Field.optional(
              "cpu", new DecimalShape(0, true, 1024), "CPU cores; may be fractional; default 1"),
          Field.optional("memory", new Shape.WholeNumber(4, 64L << 20), "memory in MB"),
          Field.optional("disk", new Shape.WholeNumber(1, 1L << 30), "disk in MB"),
          Field.optional(
              "fileDescriptors", new Shape.WholeNumber(16, 1 << 20), "open files per process"),
          Field.optional(
              "processes",
              new Shape.WholeNumber(1, 1 << 22),
              "processes started by commands, regardless of their threads"),
          Field.optional(
              "threads", new Shape.WholeNumber(1, 1 << 22), "threads of all processes together"),
          Field.optional("networkBandwidth", new Shape.WholeNumber(1, 1 << 20), "Mbit/s"),
          Field.optional("timeoutSeconds", SECONDS, "default timeout of a command"));

  private static final Shape.Obj VOLUME =
      new Shape.Obj(
          Field.optional("type", choice("VolumeType", VolumeMount.Type.values()), "default bind"),
          Field.optional(
              "source", TEXT, "host path of a bind mount, or name of a volume; none for tmpfs"),
          Field.required("destination", ABSOLUTE, "absolute path in the sandbox"),
          Field.optional("readonly", Shapes.FLAG, "whether writing fails; default false"));

  private static final Shape MCP_SERVER =
      new Shape.Obj(
              Field.required(
                      "command",
                      new Shape.NonEmptyText(4096),
                      "program that speaks MCP on standard input and output")
                  .example("npx"),
              Field.optional(
                      "args", new Shape.ListOf(TEXT, UNLIMITED), "arguments; *** below scope use")
                  .example(List.of("-y", "@modelcontextprotocol/server-everything")),
              Field.optional(
                  "env", Shapes.TEXTS, "additional environment variables; *** below scope use"),
              Field.optional("cwd", ABSOLUTE, "working directory"),
              Field.optional("user", TEXT, "user that runs the program"),
              Field.optional(
                  "restart",
                  choice("RestartPolicy", RestartPolicy.values()),
                  "whether it is started again after it has exited; default always"))
          .named("McpServer");

  private static final Shape INIT =
      new OneOfShape(
          "InitCommand",
          List.of(
              TEXT,
              new Shape.Obj(
                      Field.optional(
                          "mode",
                          choice("CommandMode", Command.Mode.values()),
                          "shell: a command line; argv: a program with args; default shell"),
                      Field.required("command", new Shape.NonEmptyText(1 << 20), "the command"),
                      Field.optional(
                          "args", new Shape.ListOf(TEXT, UNLIMITED), "arguments of the program"),
                      Field.optional("env", Shapes.TEXTS, "additional environment variables"),
                      Field.optional("cwd", TEXT, "working directory"),
                      Field.optional("user", TEXT, "user that runs the command"),
                      Field.optional("stdin", Shapes.FLAG, "whether it has a stdin"),
                      Field.optional(
                          "timeoutSeconds",
                          new DecimalShape(NANOSECOND, 1e15),
                          "timeout of the command"),
                      Field.optional("tag", TEXT, "a tag chosen by the client"))
                  .named("InitCommandDetails")));

  private static final Shape.Obj NETWORK =
      new Shape.Obj(
          Field.optional(
              "mode",
              choice("NetworkMode", NetworkMode.values()),
              "host requires scope admin; default filtered if domains or egress are given"),
          Field.optional("allowDomains", DOMAINS, "the only domains that can be reached"),
          Field.optional("blockDomains", DOMAINS, "domains that cannot be reached"),
          Field.optional(
              "exposePorts",
              new Shape.ListOf(new Shape.WholeNumber(1, 65_535), UNLIMITED),
              "the only ports that previews reach; default: all"));

  private static final Shape.Obj REQUIRE =
      new Shape.Obj(
              Field.optional(
                  "isolation", Shapes.ISOLATION, "the weakest isolation that is allowed"),
              Field.optional(
                  "capabilities",
                  new Shape.ListOf(
                      new Shape.Choice(
                          "CapabilityName",
                          Capability.all().stream().map(Capability::idOf).sorted().toList()),
                      UNLIMITED),
                  "capabilities that the provider must have"),
              Field.optional("limits", LIMITS, "limits that the provider must enforce"))
          .named("Requirements");

  /** The spec in responses. */
  static final Shape.Obj SPEC =
      object(
              fields(RESOURCES.named("ResourceLimits"), VOLUME.named("VolumeMount")),
              List.of(
                  Field.optional(
                      "secretEnv",
                      new Shape.ListOf(TEXT, UNLIMITED),
                      "names of the secret variables"),
                  Field.optional(
                      "network",
                      NETWORK
                          .and(
                              Field.optional(
                                  "egress", EgressShapes.SETTINGS, "rules of mode filtered"))
                          .named("Network"),
                      "network settings")))
          .named("SandboxSpec");

  static final Shape.Obj SANDBOX =
      new Shape.Obj(
              Field.required("id", Shapes.SANDBOX_ID, "sandbox id; valid as part of a host name"),
              Field.deprecated("runtimeId", Shapes.SANDBOX_ID, "the same as id; not in lists"),
              Field.deprecated("runtime", Shapes.WORD, "the same as provider; not in lists"),
              Field.optional("name", Shapes.SANDBOX_NAME, "name chosen by the client"),
              Field.required("state", Shapes.STATE, "lifecycle state").example("running"),
              Field.required("provider", Shapes.WORD, "provider that created it")
                  .example("bubblewrap"),
              Field.required("isolation", Shapes.ISOLATION, "isolation level").example("container"),
              Field.required("warm", Shapes.FLAG, "whether it came from the warm pool"),
              Field.required(
                      "attempts",
                      new Shape.ListOf(
                          new Shape.Obj(
                                  Field.required(
                                      "provider", Shapes.WORD, "provider that was tried"),
                                  Field.required("reason", TEXT, "why it failed"),
                                  Field.required("at", Shapes.TIME, "time of the attempt"))
                              .named("SandboxAttempt"),
                          100),
                      "providers that were tried and failed")
                  .example(List.of()),
              Field.required("createdAt", Shapes.TIME, "creation time"),
              Field.required("lastActivity", Shapes.TIME, "time of last use, to the second"),
              Field.optional("expiresAt", Shapes.TIME, "expiry time; absent if it does not expire")
                  .example("2026-01-31T12:10:00Z"),
              Field.optional("idleTimeoutSeconds", Shapes.COUNT, "idle time after which it ends"),
              Field.optional("cause", TEXT, "why it failed or ended"),
              Field.optional(
                  "unenforcedLimits",
                  new Shape.ListOf(Shapes.WORD, 100),
                  "limits that its provider does not enforce on this host; not in lists"),
              Field.optional(
                  "unenforcedRequestedLimits",
                  new Shape.ListOf(Shapes.WORD, 100),
                  "those of them that the create request set; only in its response"),
              Field.required("tags", Shapes.TEXTS, "tags set by the client")
                  .example(Map.of("team", "red")),
              Field.required("spec", SPEC, "the spec, with defaults"))
          .named("Sandbox");

  private SpecShapes() {}

  /** Describes the spec in requests, with further fields before it. */
  static Shape.Obj request(List<Field> more) {
    Shape.Obj resources =
        RESOURCES.and(Field.deprecated("required", LIMITS, "use require.limits instead"));
    Shape.Obj volume =
        VOLUME.and(Field.deprecated("readOnly", Shapes.FLAG, "use readonly instead"));
    List<Field> own = new ArrayList<>(more);
    own.addAll(fields(resources.named("ResourceRequest"), volume.named("VolumeMountRequest")));
    return object(
        own,
        List.of(
            Field.optional(
                "secretEnv",
                VARIABLES,
                "variables whose values are never returned; responses contain their names"),
            Field.optional(
                "network",
                NETWORK
                    .and(
                        Field.optional(
                            "enabled",
                            Shapes.FLAG,
                            "false for mode none, true for bridge; must not contradict mode"),
                        Field.optional("egress", EgressShapes.REQUEST, "rules of mode filtered"))
                    .named("NetworkRequest"),
                "network settings"),
            Field.deprecated("runtimeId", Shapes.SANDBOX_ID, "use id instead"),
            Field.deprecated("startupTimeout", millis(), "use startupTimeoutMs instead"),
            // container_type is accepted too, but generators turn it into the name of
            // containerType.
            Field.deprecated(
                "networkMode",
                choice("NetworkMode", NetworkMode.values()),
                "apiVersion v1 only; use network.mode"),
            Field.deprecated(
                "resourceLimits",
                new Shape.Obj(
                        Field.optional("cpuCount", new DecimalShape(0, true, 1024), "CPU cores"),
                        Field.optional(
                            "memoryMB", new Shape.WholeNumber(4, 64L << 20), "memory in MB"),
                        Field.optional("diskMB", new Shape.WholeNumber(1, 1L << 30), "disk in MB"),
                        Field.optional("timeoutSeconds", SECONDS, "default timeout of a command"))
                    .named("ResourceLimitsV1"),
                "apiVersion v1 only; use resources")));
  }

  private static Shape.Obj object(List<Field> fields, List<Field> more) {
    return new Shape.Obj(fields.toArray(Field[]::new)).and(more.toArray(Field[]::new));
  }

  private static Shape millis() {
    return new DecimalShape(NANOSECOND * 1000, MAX_SECONDS * 1000);
  }

  /** Returns the fields that requests and responses share. */
  private static List<Field> fields(Shape resources, Shape volume) {
    Shape action = choice("ExpiryAction", ExpiryAction.values());
    return List.of(
        Field.optional(
            "apiVersion",
            new Shape.Choice(
                "ApiVersion", Stream.of(ApiVersion.values()).map(ApiVersion::wireName).toList()),
            "version of the spec; default v2"),
        Field.optional("id", Shapes.SANDBOX_ID, "sandbox id; generated if absent"),
        Field.optional("image", IMAGE, "name of an image, or snapshot:ID"),
        Field.optional("env", VARIABLES, "environment variables")
            .example(Map.of("LANG", "C.UTF-8")),
        Field.optional("cwd", ABSOLUTE, "default working directory of commands"),
        Field.optional("user", USER, "default user of commands"),
        Field.optional(
            "workspacePath", TEXT, "folder of the host to use as workspace; requires scope admin"),
        Field.optional("workspaceMount", ABSOLUTE, "path of the workspace; default /workspace"),
        Field.optional("volumes", new Shape.ListOf(volume, UNLIMITED), "mounts"),
        Field.optional(
            "seedFiles", new Shape.MapOf(new ContentShape()), "files to create, by path"),
        Field.optional("init", INIT, "command that must succeed before the sandbox is ready"),
        Field.optional("startupTimeoutMs", millis(), "time for the start, including init"),
        Field.optional("tags", TAGS, "at most 64 tags to attach to the sandbox")
            .example(Map.of("team", "red")),
        Field.optional("ttlSeconds", SECONDS, "lifetime; default: set by the operator")
            .example(600),
        Field.optional(
            "lingerSeconds",
            new DecimalShape(0, MAX_SECONDS),
            "time after which the sandbox ends if no server is connected to it"),
        Field.optional("autoResume", Shapes.FLAG, "whether requests resume it; default false"),
        Field.optional("whenIdle", action, "what happens after idleTimeoutSeconds"),
        Field.optional("whenExpired", action, "what happens after ttlSeconds"),
        Field.optional("resources", resources, "limits of the sandbox"),
        Field.optional(
            "containerType", choice("Workload", Workload.values()), "purpose of the sandbox"),
        Field.optional(
            "mcp", MCP_SERVER, "the server that a sandbox of containerType mcp_server hosts"),
        Field.optional("gpus", new Shape.WholeNumber(0, 64), "number of GPUs"),
        Field.optional("require", REQUIRE, "properties that the provider must have"));
  }

  private static Shape choice(String name, Enum<?>[] constants) {
    return new Shape.Choice(name, Stream.of(constants).map(JsonViews::wireName).toList());
  }
}
