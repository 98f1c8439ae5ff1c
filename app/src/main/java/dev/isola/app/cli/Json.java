package dev.isola.app.cli;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Writes JSON from maps, lists, strings, numbers and booleans; an empty {@code Optional} is null.
 * The command only ever writes a few small objects, so it does not load a library for that.
 */
public final class Json {
  private final StringBuilder text = new StringBuilder();

  private Json() {}

  public static String text(Object value) {
    Json json = new Json();
    json.add(value);
    return json.text.toString();
  }

  /** Returns an object whose members stay in this order: names and values in turn. */
  public static Map<String, Object> object(Object... members) {
    Map<String, Object> object = new LinkedHashMap<>();
    for (int i = 0; i < members.length; i += 2) {
      object.put((String) members[i], members[i + 1]);
    }
    return object;
  }

  private void add(Object value) {
    switch (value) {
      case Map<?, ?> map -> object(map);
      case Iterable<?> list -> array(list);
      case Optional<?> optional when optional.isEmpty() -> text.append("null");
      case Optional<?> optional -> add(optional.get());
      case Number number -> text.append(number);
      case Boolean flag -> text.append(flag.booleanValue());
      default -> string(value.toString());
    }
  }

  private void object(Map<?, ?> map) {
    text.append('{');
    for (Iterator<? extends Map.Entry<?, ?>> it = map.entrySet().iterator(); it.hasNext(); ) {
      Map.Entry<?, ?> entry = it.next();
      string(entry.getKey().toString());
      text.append(':');
      add(entry.getValue());
      if (it.hasNext()) {
        text.append(',');
      }
    }
    text.append('}');
  }

  private void array(Iterable<?> list) {
    text.append('[');
    for (Iterator<?> it = list.iterator(); it.hasNext(); ) {
      add(it.next());
      if (it.hasNext()) {
        text.append(',');
      }
    }
    text.append(']');
  }

  private void string(String value) {
    text.append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '"' -> text.append("\\\"");
        case '\\' -> text.append("\\\\");
        case '\n' -> text.append("\\n");
        case '\r' -> text.append("\\r");
        case '\t' -> text.append("\\t");
        default -> {
          if (c < 0x20 || c == 0x7f || (Character.isSurrogate(c) && !inPair(value, i))) {
            text.append("\\u");
            for (int shift = 12; shift >= 0; shift -= 4) {
              text.append(Character.forDigit(c >> shift & 0xf, 16));
            }
          } else {
            text.append(c);
          }
        }
      }
    }
    text.append('"');
  }

  /** A surrogate alone cannot be written as UTF-8. */
  private static boolean inPair(String value, int i) {
    return Character.isHighSurrogate(value.charAt(i))
        ? i + 1 < value.length() && Character.isLowSurrogate(value.charAt(i + 1))
        : i > 0 && Character.isHighSurrogate(value.charAt(i - 1));
  }
}
