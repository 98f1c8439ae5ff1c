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
      Parameter.path("id", new Shape.NonEmptyText(32), "the sandbox: 1 to 32 of a-z and 0-9");

  static final Shape SPEC = new Shape.Document(spec(Map.of()));

  static final Shape.Obj SANDBOX =
      new Shape.Obj(
          Field.required("id", WORD, "names it; can stand in a host name"),
          Field.required("state", STATE, "where it is in its life"),
          Field.required("provider", WORD, "who really made it"),
          Field.required("isolation", WORD, "process, container, kernel or vm"),
          Field.required("warm", FLAG, "whether it came from the warm pool"),
          Field.required(
              "attempts",
              new Shape.ListOf(
                  new Shape.Obj(
                      Field.required("provider", WORD, "who was tried"),
                      Field.required("reason", TEXT, "why it did not"),
                      Field.required("at", TIME, "when")),
                  100),
              "providers that were tried before"),
          Field.required("createdAt", TIME, "when it was ordered"),
          Field.required("lastActivity", TIME, "when it was last used, to the second"),
          Field.optional("expiresAt", TIME, "when its time is up; absent for never"),
          Field.optional("idleTimeoutSeconds", COUNT, "how long it may be idle"),
          Field.optional("cause", TEXT, "why it failed or ended"),
          Field.optional(
              "unenforcedLimits",
              new Shape.ListOf(WORD, 100),
              "limits that its provider does not enforce on this machine; not in lists"),
          Field.required("tags", TEXTS, "the caller's own"),
          Field.required("spec", SPEC, "what was asked, with its defaults"));

  static final Shape.Obj FILE =
      new Shape.Obj(
          Field.required("path", PATH, "as a next call would name it"),
          Field.required("name", PATH, "its last part"),
          Field.required(
              "type", new Shape.Choice(List.of("file", "folder", "link", "other")), "what it is"),
          Field.required("mode", WORD, "permission bits, such as 0644"),
          Field.required("size", COUNT, "in bytes"),
          Field.required("uid", COUNT, "of its owner"),
          Field.required("gid", COUNT, "of its group"),
          Field.required("owner", TEXT, "the owner's name inside"),
          Field.required("group", TEXT, "the group's name inside"),
          Field.required("modifiedAt", TIME, "when its content changed"),
          Field.optional("linkTarget", PATH, "as written in the link"));

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
            "variables whose values no answer has; answers have a list of their names",
            "oneOf",
            List.of(texts, Map.of("type", "array", "items", text))));
    properties.put("cwd", text);
    properties.put("user", text);
    properties.put("workspacePath", Map.of("type", "string", "description", "needs scope admin"));
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
    properties.put("cpu", limit("number", "cores, fractions allowed"));
    properties.put("memory", limit("integer", "MB"));
    properties.put("disk", limit("integer", "MB"));
    properties.put("fileDescriptors", limit("integer", "of one process"));
    properties.put(
        "processes", limit("integer", "that commands start, however many threads each has"));
    properties.put("threads", limit("integer", "of all processes together"));
    properties.put("networkBandwidth", limit("integer", "Mbit/s"));
    properties.put("timeoutSeconds", limit("number", "of a command without one of its own"));
    properties.put(
        "required",
        Map.of(
            "type",
            "array",
            "items",
            Map.of("type", "string"),
            "description",
            "limits without which no sandbox shall be made"));
    return Map.of("type", "object", "properties", properties);
  }

  private static Map<String, Object> limit(String type, String description) {
    return Map.of("type", type, "description", description);
  }
}
