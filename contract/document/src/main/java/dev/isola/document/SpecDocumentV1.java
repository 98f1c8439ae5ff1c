package dev.isola.document;

import dev.isola.document.field.DocumentReader;
import dev.isola.document.field.Field;
import dev.isola.spi.spec.ApiVersion;
import dev.isola.spi.spec.Violation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Version 1 of the spec document, which was flat, and its migration to the current version.
 *
 * <pre>{@code
 * {"apiVersion": "v1", "image": "python", "networkMode": "none",
 *  "resourceLimits": {"cpuCount": 2, "memoryMB": 2048}}
 * }</pre>
 */
final class SpecDocumentV1 {
  private static final String LIMITS = "resourceLimits";
  private static final List<String> KEPT =
      List.of("workspacePath", "workspaceMount", "image", "env", "user");
  private static final Map<String, String> LIMIT_NAMES =
      new TreeMap<>(
          Map.of(
              "cpuCount", "cpu",
              "memoryMB", "memory",
              "diskMB", "disk",
              "timeoutSeconds", "timeoutSeconds"));

  /** The fields that version 1 does not have. */
  static final Map<String, String> ONLY_IN_V2 =
      RequestFields.REQUEST.fields().stream()
          .filter(field -> field.otherVersion().isEmpty())
          .flatMap(Field::names)
          .filter(name -> !KEPT.contains(name) && !name.equals("apiVersion"))
          .collect(Collectors.toMap(name -> name, any -> "apiVersion v2"));

  private SpecDocumentV1() {}

  /**
   * Returns {@code v1} as a document of version 2. Omits fields that version 1 does not have;
   * {@link #reportUnknownFields} reports them. Passes values of the wrong type through, so that the
   * reader of version 2 rejects them.
   */
  static Map<String, @Nullable Object> migrate(Map<?, ?> v1) {
    Map<String, @Nullable Object> v2 = new LinkedHashMap<>();
    v2.put("apiVersion", ApiVersion.V2.wireName());
    for (String name : KEPT) {
      v2.put(name, v1.get(name));
    }
    Object mode = v1.get("networkMode");
    if (mode != null) {
      Map<String, @Nullable Object> network = new LinkedHashMap<>();
      network.put("mode", mode);
      v2.put("network", network);
    }
    v2.put(
        "resources", v1.get(LIMITS) instanceof Map<?, ?> limits ? renamed(limits) : v1.get(LIMITS));
    return v2;
  }

  private static Map<String, @Nullable Object> renamed(Map<?, ?> limits) {
    Map<String, @Nullable Object> resources = new LinkedHashMap<>();
    LIMIT_NAMES.forEach((old, name) -> resources.put(name, limits.get(old)));
    return resources;
  }

  /** Reports the fields of {@code v1} that version 1 does not have. */
  static void reportUnknownFields(Map<?, ?> v1, List<Violation> violations) {
    DocumentReader document = DocumentReader.of(v1, violations);
    document.expect("apiVersion", LIMITS, "networkMode");
    document.expect(KEPT.toArray(String[]::new));
    document.rejectUnknownFields(ONLY_IN_V2);
    if (v1.get(LIMITS) instanceof Map<?, ?>) {
      document
          .object(LIMITS)
          .ifPresent(
              limits -> {
                limits.expect(LIMIT_NAMES.keySet().toArray(String[]::new));
                limits.rejectUnknownFields();
              });
    }
  }

  /** Returns the version 1 name of the field {@code v2}, for error messages. */
  static String v1NameOf(String v2) {
    for (Map.Entry<String, String> limit : LIMIT_NAMES.entrySet()) {
      if (v2.equals("resources." + limit.getValue())) {
        return LIMITS + "." + limit.getKey();
      }
    }
    return switch (v2) {
      case "resources" -> LIMITS;
      case "network.mode" -> "networkMode";
      default -> v2;
    };
  }
}
