package dev.isola.server.api;

import dev.isola.server.route.Parameter;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.SandboxState;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Shapes that several routes share. */
final class Shapes {
  static final int LONGEST_PATH = 4096;

  static final Shape TEXT = new Shape.Text(1 << 20, "");
  static final Shape WORD = new Shape.NonEmptyText(256);
  static final Shape SANDBOX_NAME = new Shape.NonEmptyText(63);
  static final Shape PATH = new Shape.NonEmptyText(LONGEST_PATH);
  static final Shape TIME = new Shape.Text(64, "date-time");
  static final Shape COUNT = new Shape.WholeNumber(0, Long.MAX_VALUE);
  static final Shape FLAG = new Shape.Flag();
  static final Shape TEXTS = new Shape.MapOf(TEXT);

  /** At most one year. */
  static final Shape SECONDS = new Shape.WholeNumber(1, 31_536_000);

  static final Shape STATE =
      new Shape.Choice(
          Stream.of(SandboxState.values())
              .map(state -> state.name().toLowerCase(Locale.ROOT))
              .toList());

  static final Parameter ID =
      Parameter.path("id", new Shape.NonEmptyText(32), "sandbox id: 1 to 32 of a-z and 0-9");

  static final Shape SPEC = new Shape.Document(spec(Map.of()));

  static final Shape.Obj SANDBOX =
      new Shape.Obj(
          Field.required("id", WORD, "sandbox id; valid as part of a host name"),
          Field.optional("name", SANDBOX_NAME, "name chosen by the client"),
          Field.required("state", STATE, "lifecycle state"),
          Field.required("provider", WORD, "provider that created it"),
          Field.required("isolation", WORD, "isolation level: process, container, kernel or vm"),
          Field.required("warm", FLAG, "whether it came from the warm pool"),
          Field.required(
              "attempts",
              new Shape.ListOf(
                  new Shape.Obj(
                      Field.required("provider", WORD, "provider that was tried"),
                      Field.required("reason", TEXT, "why it failed"),
                      Field.required("at", TIME, "time of the attempt")),
                  100),
              "providers that were tried and failed"),
          Field.required("createdAt", TIME, "creation time"),
          Field.required("lastActivity", TIME, "time of last use, to the second"),
          Field.optional("expiresAt", TIME, "expiry time; absent if it does not expire"),
          Field.optional("idleTimeoutSeconds", COUNT, "idle time after which it ends"),
          Field.optional("cause", TEXT, "why it failed or ended"),
          Field.optional(
              "unenforcedLimits",
              new Shape.ListOf(WORD, 100),
              "limits that its provider does not enforce on this host; not in lists"),
          Field.required("tags", TEXTS, "tags set by the client"),
          Field.required("spec", SPEC, "the spec, with defaults"));

  static final Shape.Obj FILE =
      new Shape.Obj(
          Field.required("path", PATH, "path for further requests"),
          Field.required("name", PATH, "last segment of the path"),
          Field.required(
              "type",
              new Shape.Choice(List.of("file", "folder", "link", "other")),
              "type of the file"),
          Field.required("mode", WORD, "permission bits, such as 0644"),
          Field.required("size", COUNT, "size in bytes"),
          Field.required("uid", COUNT, "user id of the owner"),
          Field.required("gid", COUNT, "group id"),
          Field.required("owner", TEXT, "name of the owner in the sandbox"),
          Field.required("group", TEXT, "name of the group in the sandbox"),
          Field.required("modifiedAt", TIME, "time of the last modification"),
          Field.optional("linkTarget", PATH, "target of a symbolic link"));

  private Shapes() {}

  /** Describes the spec document. The codec validates it. */
  static Map<String, Object> spec(Map<String, Object> more) {
    Map<String, Object> text = Map.of("type", "string");
    Map<String, Object> number = Map.of("type", "number");
    Map<String, Object> texts = Map.of("type", "object", "additionalProperties", text);
    Map<String, Object> object = Map.of("type", "object");
    Map<String, Object> properties = new LinkedHashMap<>(more);
    properties.put("apiVersion", Map.of("type", "string", "enum", List.of("v1", "v2")));
    properties.put("id", Map.of("type", "string", "pattern", "^[a-z0-9]{1,32}$"));
    properties.put("image", text);
    properties.put("env", texts);
    properties.put(
        "secretEnv",
        Map.of(
            "description",
            "variables whose values are never returned; responses contain a list of their names",
            "oneOf",
            List.of(texts, Map.of("type", "array", "items", text))));
    properties.put("cwd", text);
    properties.put("user", text);
    properties.put(
        "workspacePath", Map.of("type", "string", "description", "requires scope admin"));
    properties.put("workspaceMount", text);
    properties.put("volumes", Map.of("type", "array", "items", object));
    properties.put("seedFiles", object);
    properties.put("init", Map.of("oneOf", List.of(text, object)));
    properties.put("startupTimeoutMs", number);
    properties.put("tags", texts);
    properties.put("ttlSeconds", number);
    properties.put("lingerSeconds", number);
    properties.put("autoResume", Map.of("type", "boolean"));
    Map<String, Object> over =
        Map.of("type", "string", "enum", List.of("destroy", "pause", "stop", "snapshot"));
    properties.put("whenIdle", over);
    properties.put("whenExpired", over);
    properties.put("resources", resources());
    properties.put("network", object);
    properties.put("containerType", text);
    properties.put("gpus", number);
    properties.put("require", object);
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", "object");
    schema.put("properties", properties);
    return schema;
  }

  private static Map<String, Object> resources() {
    Map<String, Object> properties = new LinkedHashMap<>();
    properties.put("cpu", limit("number", "CPU cores; may be fractional"));
    properties.put("memory", limit("integer", "MB"));
    properties.put("disk", limit("integer", "MB"));
    properties.put("fileDescriptors", limit("integer", "per process"));
    properties.put(
        "processes",
        limit("integer", "processes started by commands, regardless of their threads"));
    properties.put("threads", limit("integer", "of all processes"));
    properties.put("networkBandwidth", limit("integer", "Mbit/s"));
    properties.put("timeoutSeconds", limit("number", "default timeout of a command"));
    properties.put(
        "required",
        Map.of(
            "type",
            "array",
            "items",
            Map.of("type", "string"),
            "description",
            "limits that the provider must enforce"));
    return Map.of("type", "object", "properties", properties);
  }

  private static Map<String, Object> limit(String type, String description) {
    return Map.of("type", type, "description", description);
  }
}
