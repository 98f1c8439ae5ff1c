package dev.isola.host.image;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads JSON into maps, lists, strings, numbers (as {@code Double}), booleans and {@link Null}. For
 * the few small documents of an image, whose size is bounded before they come here; of a key given
 * twice the document is refused, since readers differ in which one they take.
 */
final class JsonText {
  /** Thrown for what is not JSON. */
  static final class Malformed extends Exception {
    private static final long serialVersionUID = 1L;

    Malformed(String what) {
      super(what);
    }
  }

  /** What null is read as. */
  enum Null {
    NULL
  }

  private static final int DEEPEST = 32;

  private final String text;
  private int at;

  private JsonText(String text) {
    this.text = text;
  }

  static Object parse(byte[] bytes) throws Malformed {
    try {
      JsonText json =
          new JsonText(
              StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
      Object value = json.value(0);
      json.blank();
      if (json.at < json.text.length()) {
        throw json.malformed("something after its end");
      }
      return value;
    } catch (CharacterCodingException e) {
      throw new Malformed("not UTF-8");
    }
  }

  private Object value(int depth) throws Malformed {
    if (depth > DEEPEST) {
      throw malformed("nested too deep");
    }
    blank();
    return switch (peek()) {
      case '{' -> object(depth);
      case '[' -> array(depth);
      case '"' -> string();
      case 't' -> word("true", true);
      case 'f' -> word("false", false);
      case 'n' -> word("null", Null.NULL);
      default -> number();
    };
  }

  private Map<String, Object> object(int depth) throws Malformed {
    Map<String, Object> map = new LinkedHashMap<>();
    take('{');
    blank();
    if (peek() == '}') {
      take('}');
      return map;
    }
    while (true) {
      blank();
      String key = string();
      blank();
      take(':');
      if (map.put(key, value(depth + 1)) != null) {
        throw malformed("the key '" + key + "' twice");
      }
      blank();
      if (peek() != ',') {
        take('}');
        return map;
      }
      take(',');
    }
  }

  private List<Object> array(int depth) throws Malformed {
    List<Object> list = new ArrayList<>();
    take('[');
    blank();
    if (peek() == ']') {
      take(']');
      return list;
    }
    while (true) {
      list.add(value(depth + 1));
      blank();
      if (peek() != ',') {
        take(']');
        return list;
      }
      take(',');
    }
  }

  private String string() throws Malformed {
    take('"');
    StringBuilder string = new StringBuilder();
    while (true) {
      char c = next();
      if (c == '"') {
        return string.toString();
      }
      if (c < ' ') {
        throw malformed("a control character in a string");
      }
      string.append(c == '\\' ? escape() : c);
    }
  }

  private char escape() throws Malformed {
    char c = next();
    return switch (c) {
      case '"', '\\', '/' -> c;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> unicode();
      default -> throw malformed("an unknown escape");
    };
  }

  private char unicode() throws Malformed {
    int code = 0;
    for (int i = 0; i < 4; i++) {
      int digit = Character.digit(next(), 16);
      if (digit < 0) {
        throw malformed("an unknown escape");
      }
      code = code * 16 + digit;
    }
    return (char) code;
  }

  private Double number() throws Malformed {
    int start = at;
    while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    try {
      if (start == at || text.charAt(start) == '+') {
        throw malformed("no value where one must be");
      }
      return Double.valueOf(text.substring(start, at));
    } catch (NumberFormatException e) {
      throw malformed("something that is no number");
    }
  }

  private Object word(String word, Object value) throws Malformed {
    if (!text.startsWith(word, at)) {
      throw malformed("an unknown word");
    }
    at += word.length();
    return value;
  }

  private void blank() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private char peek() throws Malformed {
    if (at >= text.length()) {
      throw malformed("an early end");
    }
    return text.charAt(at);
  }

  private char next() throws Malformed {
    char c = peek();
    at++;
    return c;
  }

  private void take(char wanted) throws Malformed {
    if (next() != wanted) {
      throw malformed("no '" + wanted + "' where one must be");
    }
  }

  private Malformed malformed(String what) {
    return new Malformed(what + ", at " + at);
  }
}
