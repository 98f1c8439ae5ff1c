package dev.isola.provider.oci;

import java.util.Iterator;
import java.util.Map;

/**
 * Writes JSON from maps, lists, strings, numbers and booleans. A bundle is all that is written
 * here, so no library is loaded for it.
 */
final class JsonText {
  private final StringBuilder text = new StringBuilder();

  private JsonText() {}

  /**
   * Returns the text of a value.
   *
   * @throws IllegalArgumentException for a value that JSON does not have
   */
  static String of(Object value) {
    JsonText json = new JsonText();
    json.add(value);
    return json.text.toString();
  }

  private void add(Object value) {
    switch (value) {
      case Map<?, ?> map -> object(map);
      case Iterable<?> list -> array(list);
      case String string -> string(string);
      case Integer number -> text.append(number.intValue());
      case Long number -> text.append(number.longValue());
      case Boolean flag -> text.append(flag.booleanValue());
      default -> throw new IllegalArgumentException("JSON has no " + value.getClass().getName());
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
      if (c == '"' || c == '\\') {
        text.append('\\').append(c);
      } else if (c < 0x20 || c == 0x7f || Character.isSurrogate(c)) {
        text.append(String.format("\\u%04x", (int) c));
      } else {
        text.append(c);
      }
    }
    text.append('"');
  }
}
