package dev.isola.compat.e2b.envd;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A protocol buffers message in its JSON mapping. Absent fields have their default values, and
 * unknown fields are ignored.
 */
record ConnectMessage(Map<?, ?> fields) {

  Optional<String> text(String field) {
    return switch (fields.get(field)) {
      case null -> Optional.empty();
      case String text -> Optional.of(text);
      default -> throw invalidField(field, "a string");
    };
  }

  /** Returns a string field that must be present. */
  String requiredText(String field) {
    return text(field)
        .filter(text -> !text.isEmpty())
        .orElseThrow(() -> invalidField(field, "present"));
  }

  /** Returns a number. In the JSON mapping, 64-bit numbers are strings. */
  Optional<Long> wholeNumber(String field) {
    return switch (fields.get(field)) {
      case null -> Optional.empty();
      case Integer number -> Optional.of(number.longValue());
      case Long number -> Optional.of(number);
      case String text when text.matches("-?[0-9]{1,18}") -> Optional.of(Long.parseLong(text));
      default -> throw invalidField(field, "an integer");
    };
  }

  boolean flag(String field, boolean defaultValue) {
    return switch (fields.get(field)) {
      case null -> defaultValue;
      case Boolean flag -> flag;
      default -> throw invalidField(field, "true or false");
    };
  }

  Optional<ConnectMessage> message(String field) {
    return switch (fields.get(field)) {
      case null -> Optional.empty();
      case Map<?, ?> map -> Optional.of(new ConnectMessage(map));
      default -> throw invalidField(field, "an object");
    };
  }

  ConnectMessage requiredMessage(String field) {
    return message(field).orElseThrow(() -> invalidField(field, "present"));
  }

  Optional<byte[]> bytes(String field) {
    try {
      return text(field).map(Base64.getDecoder()::decode);
    } catch (IllegalArgumentException e) {
      throw invalidField(field, "bytes in base64");
    }
  }

  List<String> texts(String field) {
    List<String> texts = new ArrayList<>();
    switch (fields.get(field)) {
      case null -> {}
      case List<?> list -> {
        for (Object one : list) {
          if (!(one instanceof String text)) {
            throw invalidField(field, "a list of strings");
          }
          texts.add(text);
        }
      }
      default -> throw invalidField(field, "a list of strings");
    }
    return texts;
  }

  Map<String, String> textsByName(String field) {
    Map<String, String> texts = new LinkedHashMap<>();
    message(field)
        .ifPresent(
            map ->
                map.fields()
                    .keySet()
                    .forEach(
                        name -> {
                          String key = String.valueOf(name);
                          texts.put(key, map.text(key).orElse(""));
                        }));
    return texts;
  }

  private static SandboxException invalidField(String field, String expected) {
    return invalid("the field " + field + " must be " + expected);
  }

  static SandboxException invalid(String what) {
    return Fault.of(ErrorCode.INVALID_REQUEST, what, "correct the request").exception();
  }
}
