package dev.isola.app.cli;

import dev.isola.document.RequestFields;
import dev.isola.document.field.Field;
import dev.isola.document.field.ObjectType;
import dev.isola.document.field.Suggestion;
import dev.isola.document.field.Type;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A field of a create request and its value, written {@code FIELD=VALUE} on the command line. The
 * field may be in an object, such as {@code resources.cpu}.
 *
 * @param value as in the JSON document
 */
public record FieldAssignment(String field, Object value) {
  private static final String PAGE = "docs/create-request.md lists the fields and their values";

  /**
   * Parses an assignment by the type of the field. The value of a secret field is the name of the
   * environment variable that has it, so that it appears neither in the process list nor in the
   * shell history.
   *
   * @throws UsageException naming the option, if there is no such field or the value has another
   *     type; the server checks ranges
   */
  public static FieldAssignment parse(String option, String word, Map<String, String> environment) {
    int equals = word.indexOf('=');
    if (equals < 1) {
      throw new UsageException(
          option + " '" + word + "' is not of the form FIELD=VALUE", "use " + option + " gpus=1");
    }
    String path = word.substring(0, equals);
    String text = word.substring(equals + 1);
    Field<?, ?> field = find(option, path);
    if (field.isSecret() && !(field.type() instanceof Type.MapOf<?>)) {
      text =
          Arguments.inheritedVariables(option, List.of(text), environment).getOrDefault(text, "");
    } else if (field.isSecret()) {
      throw new UsageException(
          option + " " + path + " would show secrets in the process list", "use --secret-env NAME");
    }
    return new FieldAssignment(
        path,
        value(field.type(), text)
            .orElseThrow(
                () ->
                    new UsageException(
                        option + " '" + word + "' has a value of another type", PAGE)));
  }

  private static Field<?, ?> find(String option, String path) {
    ObjectType<?> object = RequestFields.REQUEST;
    List<String> names = List.of(path.split("\\.", -1));
    for (String name : names.subList(0, names.size() - 1)) {
      object =
          objectOf(field(option, path, object, name).type())
              .orElseThrow(() -> new UsageException(option + " " + path + " is no field", PAGE));
    }
    return field(option, path, object, names.getLast());
  }

  private static Field<?, ?> field(String option, String path, ObjectType<?> object, String name) {
    return object.fields().stream()
        .<Field<?, ?>>map(field -> field)
        .filter(field -> field.otherVersion().isEmpty() && field.names().anyMatch(name::equals))
        .findFirst()
        .orElseThrow(
            () ->
                new UsageException(
                    option
                        + " "
                        + path
                        + ": '"
                        + name
                        + "' is not a field"
                        + Suggestion.hint(name, object.fields().stream().map(Field::name).toList()),
                    PAGE));
  }

  private static Optional<ObjectType<?>> objectOf(Type<?> type) {
    return switch (type) {
      case ObjectType<?> object -> Optional.of(object);
      case Type.Mapped<?, ?> mapped -> objectOf(mapped.of());
      case Type.OneOf<?> one ->
          one.alternatives().stream()
              .flatMap(alternative -> objectOf(alternative.type()).stream())
              .findFirst();
      default -> Optional.empty();
    };
  }

  private static Optional<Object> value(Type<?> type, String text) {
    return switch (type) {
      case Type.Text _, Type.Choice<?> _, Type.Content _ -> Optional.of(text);
      case Type.Whole _, Type.Int _, Type.Decimal _, Type.Time _ -> number(text);
      case Type.Flag _ ->
          text.equals("true") || text.equals("false")
              ? Optional.of(Boolean.valueOf(text))
              : Optional.empty();
      case Type.ListOf<?> list -> list(list, text);
      case Type.MapOf<?> map -> entry(map, text);
      case Type.OneOf<?> one ->
          one.alternatives().stream()
              .flatMap(alternative -> value(alternative.type(), text).stream())
              .findFirst();
      case Type.Mapped<?, ?> mapped -> value(mapped.of(), text);
      case ObjectType<?> _ -> Optional.empty();
    };
  }

  private static Optional<Object> number(String text) {
    try {
      BigDecimal number = new BigDecimal(text);
      return Optional.of(
          number.scale() == 0 && number.precision() < 19 ? (Object) number.longValue() : number);
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  private static Optional<Object> list(Type.ListOf<?> list, String text) {
    List<String> words = text.isEmpty() ? List.of() : List.of(text.split(",", -1));
    List<Object> values = words.stream().flatMap(word -> value(list.of(), word).stream()).toList();
    return values.size() == words.size() ? Optional.of(values) : Optional.empty();
  }

  private static Optional<Object> entry(Type.MapOf<?> map, String text) {
    Map<String, Object> entries = new LinkedHashMap<>();
    boolean valid =
        Stream.of(text.split(",", -1))
            .allMatch(
                word -> {
                  int equals = word.indexOf('=');
                  Optional<Object> value =
                      equals < 1 ? Optional.empty() : value(map.of(), word.substring(equals + 1));
                  value.ifPresent(one -> entries.put(word.substring(0, equals), one));
                  return value.isPresent();
                });
    return valid ? Optional.of(entries) : Optional.empty();
  }
}
