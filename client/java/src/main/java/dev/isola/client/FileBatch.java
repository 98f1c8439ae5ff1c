package dev.isola.client;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * File operations that one request executes in order: at most 1,000, with at most 1 MiB together.
 *
 * <pre>{@code
 * FileBatch.EMPTY.write("a.js", codeA).write("b.js", codeB).read("package.json")
 * }</pre>
 *
 * @param operations JSON objects of the API
 * @param keepsGoing whether the operations after a failed one are executed too
 */
public record FileBatch(List<Map<String, Object>> operations, boolean keepsGoing) {
  public static final FileBatch EMPTY = new FileBatch(List.of(), false);

  public FileBatch {
    operations = List.copyOf(operations);
  }

  /** Writes a file atomically and creates its parent folders. */
  public FileBatch write(String path, String text) {
    return and("write", path, Map.of("content", text));
  }

  /** Writes a file atomically and creates its parent folders. */
  public FileBatch write(String path, byte[] bytes) {
    return and("write", path, Map.of("content", base64(bytes)));
  }

  /**
   * Writes a file atomically and creates its parent folders.
   *
   * @param mode permission bits
   */
  public FileBatch write(String path, byte[] bytes, int mode) {
    return and("write", path, Map.of("content", base64(bytes), "mode", FileModes.octal(mode)));
  }

  /** Reads a file; all files of a batch together have at most 8 MiB. */
  public FileBatch read(String path) {
    return and("read", path, Map.of());
  }

  public FileBatch stat(String path) {
    return and("stat", path, Map.of());
  }

  /** Creates a folder and its parents. */
  public FileBatch makeFolder(String path) {
    return and("mkdir", path, Map.of());
  }

  public FileBatch move(String from, String to, boolean replace) {
    return and("move", from, Map.of("to", to, "replace", replace));
  }

  public FileBatch changeMode(String path, int mode) {
    return and("chmod", path, Map.of("mode", FileModes.octal(mode)));
  }

  public FileBatch remove(String path, boolean recursive) {
    return and("remove", path, Map.of("recursive", recursive));
  }

  /** Returns a batch that executes the operations after a failed one, too. */
  public FileBatch keepGoing() {
    return new FileBatch(operations, true);
  }

  private FileBatch and(String operation, String path, Map<String, Object> more) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("op", operation);
    fields.put("path", path);
    fields.putAll(more);
    List<Map<String, Object>> all = new ArrayList<>(operations);
    all.add(fields);
    return new FileBatch(all, keepsGoing);
  }

  private static Map<String, Object> base64(byte[] bytes) {
    return Map.of("base64", Base64.getEncoder().encodeToString(bytes));
  }

  /** Returns the bytes of a content in a response. */
  static byte[] bytes(Object content) {
    if (content instanceof Map<?, ?> encoded) {
      return Base64.getDecoder().decode(String.valueOf(encoded.get("base64")));
    }
    return String.valueOf(content).getBytes(StandardCharsets.UTF_8);
  }

  Map<String, Object> document() {
    return Map.of("operations", operations, "keepGoing", keepsGoing);
  }
}
