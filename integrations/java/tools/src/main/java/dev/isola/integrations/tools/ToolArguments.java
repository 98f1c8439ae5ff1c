package dev.isola.integrations.tools;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import java.io.Serial;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Arguments of a call. They come from a model and are checked against the definition. */
final class ToolArguments {
  /** Largest JSON text of the arguments, which contains the content of a file. */
  private static final int MAX_LENGTH = 2 << 20;

  private final Map<String, Object> values;

  private ToolArguments(Map<String, Object> values) {
    this.values = values;
  }

  /** Arguments that do not match the definition. The problem is for the model. */
  static final class InvalidArguments extends RuntimeException {
    @Serial private static final long serialVersionUID = 1L;

    private final String problem;

    InvalidArguments(String problem) {
      super(problem);
      this.problem = problem;
    }

    String problem() {
      return problem;
    }
  }

  static ToolArguments parse(ToolDefinition tool, String json) {
    if (json.length() > MAX_LENGTH) {
      throw new InvalidArguments("the arguments are longer than 2 MiB");
    }
    Map<String, Object> values;
    try {
      values = json.isBlank() ? Map.of() : Json.parseObject(json);
    } catch (MalformedJson e) {
      throw new InvalidArguments("the arguments are not a JSON object");
    }
    values.forEach((name, value) -> check(tool, name, value));
    for (ToolParameter parameter : tool.parameters()) {
      if (parameter.required() && values.get(parameter.name()) == null) {
        throw new InvalidArguments("'" + parameter.name() + "' is missing");
      }
    }
    return new ToolArguments(values);
  }

  private static void check(ToolDefinition tool, String name, @Nullable Object value) {
    ToolParameter parameter =
        tool.parameters().stream()
            .filter(one -> one.name().equals(name))
            .findFirst()
            .orElseThrow(
                () ->
                    new InvalidArguments(
                        tool.name()
                            + " takes only: "
                            + tool.parameters().stream()
                                .map(ToolParameter::name)
                                .collect(Collectors.joining(", "))));
    if (value == null) {
      return; // some models send null for what they leave out
    }
    boolean valid =
        switch (parameter.type()) {
          case TEXT ->
              value instanceof String text
                  && (parameter.choices().isEmpty() || parameter.choices().contains(text));
          case INTEGER -> value instanceof Number number && isInteger(number);
        };
    if (!valid) {
      throw new InvalidArguments(
          "'"
              + name
              + "' must be "
              + (parameter.choices().isEmpty()
                  ? parameter.type() == ToolParameter.Type.TEXT ? "a string" : "an integer"
                  : "one of " + parameter.choices()));
    }
  }

  private static boolean isInteger(Number number) {
    return number instanceof Long
        || number instanceof Integer
        || number.doubleValue() == number.longValue();
  }

  String requiredText(String name) {
    return text(name).orElseThrow();
  }

  Optional<String> text(String name) {
    return values.get(name) instanceof String text ? Optional.of(text) : Optional.empty();
  }

  /** Returns a number between the bounds, or the default. */
  long number(String name, long normal, long least, long most) {
    if (!(values.get(name) instanceof Number number)) {
      return normal;
    }
    long value = number.longValue();
    if (value < least || value > most) {
      throw new InvalidArguments("'" + name + "' must be " + least + " to " + most);
    }
    return value;
  }
}
