package dev.isola.app.generated;

import java.util.List;
import java.util.Map;

/** Writes the reference page of the fields of a create request. */
record FieldReference(Schemas schemas) {
  private static final String HEAD =
      """
      # Fields of a create request

      The body of `POST /api/v1/sandboxes`, the file of `isola create --spec`, and the spec of each SDK have these fields, all of them optional unless marked. `isola create --set FIELD=VALUE` sets any of them. This page is generated from the table in `RequestFields`; [CONTRIBUTING.md](../CONTRIBUTING.md#adding-a-field) says how.

      | field | value | meaning |
      |---|---|---|
      """;

  String page() {
    StringBuilder page = new StringBuilder(HEAD);
    rows("", schemas.named("CreateSandboxRequest"), page);
    return page.toString();
  }

  private void rows(String prefix, Map<String, Object> object, StringBuilder page) {
    List<?> required = object.get("required") instanceof List<?> names ? names : List.of();
    schemas
        .fields(object)
        .forEach(
            (name, field) -> {
              page.append("| `")
                  .append(prefix)
                  .append(name)
                  .append('`')
                  .append(required.contains(name) ? " (required)" : "")
                  .append(" | ")
                  .append(cell(schemas.words(field)))
                  .append(" | ")
                  .append(cell(String.valueOf(field.get("description"))))
                  .append(" |\n");
              nested(prefix + name, field, page);
            });
  }

  private void nested(String path, Map<String, Object> field, StringBuilder page) {
    for (Map<String, Object> one : schemas.alternatives(field)) {
      if ("array".equals(one.get("type"))) {
        nested(path + "[]", Schemas.object(one.get("items")), page);
      } else if (one.containsKey("properties")) {
        rows(path + ".", one, page);
      }
    }
  }

  private static String cell(String text) {
    return text.replace("|", "\\|").replace("*", "\\*").replace("$", "\\$").replace("<", "&lt;");
  }
}
