package dev.isola.provider.http.client;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.spi.error.SandboxException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A document of a backend. A field that is missing or has another type is an error. */
public final class BackendDocument {
  private final Map<?, ?> fields;
  private final Function<String, SandboxException> malformed;

  private BackendDocument(Map<?, ?> fields, Function<String, SandboxException> malformed) {
    this.fields = fields;
    this.malformed = malformed;
  }

  /**
   * Parses a document.
   *
   * @param malformed returns the exception for a document that is not valid
   */
  static BackendDocument parse(byte[] bytes, Function<String, SandboxException> malformed) {
    Object json;
    try {
      json = Json.parse(bytes);
    } catch (MalformedJson e) {
      throw malformed.apply("its document is not valid JSON: " + e.getMessage());
    }
    if (!(json instanceof Map<?, ?> object)) {
      throw malformed.apply("its document is not an object");
    }
    return new BackendDocument(object, malformed);
  }

  /** Returns the exception for content that is not valid. */
  public SandboxException malformed(String why) {
    return malformed.apply(why);
  }

  public String text(String name) {
    return optionalText(name).orElseThrow(() -> malformed("the field " + name + " is missing"));
  }

  public Optional<String> optionalText(String name) {
    return switch (fields.get(name)) {
      case null -> Optional.empty();
      case String text -> Optional.of(text);
      default -> throw malformed("the field " + name + " is not a string");
    };
  }

  public long count(String name) {
    return optionalCount(name).orElseThrow(() -> malformed("the field " + name + " is missing"));
  }

  /** Returns an integer that is not negative. */
  public OptionalLong optionalCount(String name) {
    return switch (fields.get(name)) {
      case null -> OptionalLong.empty();
      case Integer number when number >= 0 -> OptionalLong.of(number);
      case Long number when number >= 0 -> OptionalLong.of(number);
      default -> throw malformed("the field " + name + " is not a positive integer");
    };
  }

  public boolean flag(String name, boolean absent) {
    return switch (fields.get(name)) {
      case null -> absent;
      case Boolean value -> value;
      default -> throw malformed("the field " + name + " is neither true nor false");
    };
  }

  public Instant instant(String name) {
    try {
      return Instant.parse(text(name));
    } catch (DateTimeException e) {
      throw malformed("the field " + name + " is not a time");
    }
  }

  /** Returns the strings of a list; empty if there is none. */
  public List<String> texts(String name) {
    List<String> texts = new ArrayList<>();
    for (Object one : items(name)) {
      if (!(one instanceof String text)) {
        throw malformed("an item of " + name + " is not a string");
      }
      texts.add(text);
    }
    return texts;
  }

  public BackendDocument document(String name) {
    return nested(fields.get(name), name);
  }

  public boolean has(String name) {
    return fields.get(name) != null;
  }

  /** Returns the documents of a list, which must be there. */
  public List<BackendDocument> documents(String name, int most) {
    if (!has(name)) {
      throw malformed("the field " + name + " is missing");
    }
    List<?> items = items(name);
    if (items.size() > most) {
      throw malformed("the field " + name + " has more than " + most + " items");
    }
    return items.stream().map(one -> nested(one, name)).toList();
  }

  /** Returns the strings of an object; empty if there is none. */
  public Map<String, String> strings(String name) {
    Map<String, String> strings = new LinkedHashMap<>();
    if (has(name)) {
      document(name)
          .fields
          .forEach((key, value) -> strings.put(String.valueOf(key), String.valueOf(value)));
    }
    return strings;
  }

  private BackendDocument nested(@Nullable Object value, String name) {
    if (value instanceof Map<?, ?> object) {
      return new BackendDocument(object, malformed);
    }
    throw malformed("the field " + name + " is not an object");
  }

  private List<?> items(String name) {
    return switch (fields.get(name)) {
      case null -> List.of();
      case List<?> list -> list;
      default -> throw malformed("the field " + name + " is not a list");
    };
  }
}
