package dev.isola.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.spi.Bytes;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.json.JsonMapper;

/** Generates requests from the OpenAPI document of a server: mostly valid ones with a defect. */
final class RequestFuzzer {
  /** A request; {@code streams} if the response may be endless. */
  record FuzzedRequest(
      String operation,
      String method,
      String path,
      Map<String, String> headers,
      Bytes body,
      boolean streams) {
    @Override
    public String toString() {
      String shown = new String(body.toArray(), 0, Math.min(body.size(), 500), ISO_8859_1);
      return operation + ": " + method + " " + path + " " + headers + " " + shown;
    }
  }

  private record Operation(String method, String template, Map<?, ?> description) {}

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  private static final List<String> TEXTS =
      List.of(
          "",
          "x",
          "a/b",
          "a/b/c.txt",
          "../../etc/passwd",
          "/",
          ".",
          "..",
          "-",
          "%",
          "*",
          "[",
          "**/*.txt",
          "é\u2028",
          "\u0000",
          "\ud800",
          "\ud83d\ude00",
          "a\nb",
          "=",
          "name=value",
          "0644",
          "99999",
          "TERM",
          "KILL",
          "0",
          "-1",
          "true",
          "null",
          "{}",
          "bytes=0-1",
          "bytes=5-2",
          "bytes=-",
          "test",
          "auto",
          "x".repeat(300));

  private static final List<Object> ODD =
      List.of(
          0,
          -1,
          1.5,
          Long.MAX_VALUE,
          Long.MIN_VALUE,
          1e300,
          true,
          "",
          "\u0000",
          List.of(),
          List.of(List.of()),
          Map.of(),
          Map.of("", ""),
          Map.of("base64", "!"),
          Map.of("a=b", Map.of()));

  private static final List<String> COMMANDS =
      List.of("true", "echo hi", "cat", "exit 3", "echo a; echo b >&2", "nosuchprogram", "(", "'");

  private final JsonSchema schemas;
  private final List<Operation> operations = new ArrayList<>();
  private final Random random;
  private final List<String> ids;

  /**
   * @param ids sandboxes that may be destroyed
   */
  RequestFuzzer(Map<String, Object> document, Random random, List<String> ids) {
    this.schemas = new JsonSchema(document);
    this.random = random;
    this.ids = ids;
    map(document.get("paths"))
        .forEach(
            (template, methods) ->
                map(methods)
                    .forEach(
                        (method, description) ->
                            operations.add(
                                new Operation(
                                    String.valueOf(method).toUpperCase(java.util.Locale.ROOT),
                                    String.valueOf(template),
                                    map(description)))));
  }

  int operations() {
    return operations.size();
  }

  FuzzedRequest next() {
    Operation operation = pick(operations);
    Map<?, ?> description = operation.description();
    String path = operation.template();
    StringBuilder query = new StringBuilder();
    Map<String, String> headers = new LinkedHashMap<>();
    for (Object each : list(description.get("parameters"))) {
      Map<?, ?> parameter = map(each);
      String name = String.valueOf(parameter.get("name"));
      boolean required = Boolean.TRUE.equals(parameter.get("required"));
      switch (String.valueOf(parameter.get("in"))) {
        case "path" -> path = path.replace("{" + name + "}", pathValue(name));
        case "query" -> {
          if (required ? !rarely(20) : rarely(3)) {
            add(query, name, map(parameter.get("schema")));
          }
        }
        default -> {
          if (rarely(3)) {
            headers.put(name, headerValue(map(parameter.get("schema"))));
          }
        }
      }
    }
    if (rarely(30)) {
      query.append(query.isEmpty() ? "" : "&").append(pick(List.of("nosuch=1", "%ff=1", "=", "&")));
    }
    Bytes body = Bytes.of(body(map(description.get("requestBody")), headers));
    boolean streams = description.toString().contains("text/event-stream");
    String target = path + (query.isEmpty() ? "" : "?" + query);
    String name = String.valueOf(description.get("operationId"));
    return new FuzzedRequest(name, operation.method(), target, headers, body, streams);
  }

  private String pathValue(String name) {
    if (name.equals("id") && !rarely(6)) {
      return pick(ids);
    }
    return rarely(3)
        ? pick(List.of("%00", "%ff", "%2e%2e", "a%2fb", "..", "%", "x".repeat(400), "~", "a b"))
        : pick(List.of("box", "missing", "1", "first", "0"));
  }

  private void add(StringBuilder query, String name, Map<?, ?> schema) {
    int times = rarely(15) ? 2 : 1;
    for (int i = 0; i < times; i++) {
      Object value = value(name, schema, 0);
      String text = value instanceof String plain ? plain : JSON.writeValueAsString(value);
      String sent =
          rarely(25) ? pick(List.of("%", "%zz", "%ed%a0%80")) : URLEncoder.encode(text, UTF_8);
      query.append(query.isEmpty() ? "" : "&").append(name).append('=').append(sent);
    }
  }

  private String headerValue(Map<?, ?> schema) {
    Object value = value("", schema, 0);
    return String.valueOf(value).replaceAll("[^\\x20-\\x7e]", "?");
  }

  private byte[] body(Map<?, ?> wanted, Map<String, String> headers) {
    Map<?, ?> content = map(wanted.get("content"));
    if (content.isEmpty()) {
      return rarely(20) ? "{}".getBytes(UTF_8) : new byte[0];
    }
    if (!content.containsKey("application/json")) {
      byte[] bytes = new byte[random.nextInt(2000)];
      random.nextBytes(bytes);
      return bytes;
    }
    headers.put("Content-Type", rarely(30) ? "text/plain" : "application/json");
    Object value = value("", map(map(content.get("application/json")).get("schema")), 0);
    byte[] bytes = JSON.writeValueAsString(value).getBytes(UTF_8);
    return switch (random.nextInt(40)) {
      case 0 -> new byte[0];
      case 1 -> cut(bytes);
      case 2 -> flipped(bytes);
      case 3 -> rarely(20) ? ("\"" + "x".repeat(1_100_000) + "\"").getBytes(UTF_8) : bytes;
      default -> bytes;
    };
  }

  private byte[] cut(byte[] bytes) {
    return java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
  }

  private byte[] flipped(byte[] bytes) {
    byte[] other = bytes.clone();
    other[random.nextInt(other.length)] = (byte) random.nextInt(256);
    return other;
  }

  /** Returns a value that matches the schema, or sometimes one that does not. */
  private Object value(String name, Map<?, ?> named, int depth) {
    Map<?, ?> schema = schemas.resolve(named);
    if (rarely(8) || depth > 4) {
      return pick(ODD);
    }
    if (schema.get("oneOf") instanceof List<?> choices) {
      return value(name, map(pick(choices)), depth + 1);
    }
    if (schema.get("enum") instanceof List<?> words && !rarely(10)) {
      return String.valueOf(pick(words));
    }
    return switch (String.valueOf(schema.get("type"))) {
      case "integer", "number" -> number(schema);
      case "boolean" -> random.nextBoolean();
      case "array" -> array(name, schema, depth);
      case "object" -> object(schema, depth);
      default -> text(name);
    };
  }

  private Object number(Map<?, ?> schema) {
    long least = schema.get("minimum") instanceof Number number ? number.longValue() : 0;
    long most = schema.get("maximum") instanceof Number number ? number.longValue() : 1000;
    return pick(List.of(least, least + 1, most, least - 1, most + 1, 7L, 60L));
  }

  private List<Object> array(String name, Map<?, ?> schema, int depth) {
    List<Object> values = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      values.add(value(name, map(schema.get("items")), depth + 1));
    }
    return values;
  }

  private Map<String, Object> object(Map<?, ?> schema, int depth) {
    Map<String, Object> values = new LinkedHashMap<>();
    List<?> required = list(schema.get("required"));
    map(schema.get("properties"))
        .forEach(
            (name, each) -> {
              // Include only a few fields, otherwise a create request would never be valid.
              if (required.contains(name) ? !rarely(20) : rarely(6)) {
                values.put(String.valueOf(name), value(String.valueOf(name), map(each), depth + 1));
              }
            });
    if (schema.get("additionalProperties") instanceof Map<?, ?> any && random.nextBoolean()) {
      values.put(pick(TEXTS), value("", any, depth + 1));
    }
    if (rarely(25)) {
      values.put("nosuchfield", pick(ODD));
    }
    return values;
  }

  private String text(String name) {
    return switch (name) {
      case "command" -> pick(COMMANDS);
      case "path", "from", "to" ->
          rarely(3) ? pick(TEXTS) : pick(List.of("a", "a/b", "a/c.txt", "d", "."));
      case "id" -> pick(List.of("fuzza", "fuzzb", "FUZZ", ""));
      default -> pick(TEXTS);
    };
  }

  /** Returns true with a probability of one in {@code times}. */
  private boolean rarely(int times) {
    return random.nextInt(times) == 0;
  }

  private <T> T pick(List<T> values) {
    return values.get(random.nextInt(values.size()));
  }

  static Map<?, ?> map(@Nullable Object value) {
    return value instanceof Map<?, ?> found ? found : Map.of();
  }

  static List<?> list(@Nullable Object value) {
    return value instanceof List<?> found ? found : List.of();
  }
}
