package dev.isola.server.api;

import dev.isola.document.field.Field;
import dev.isola.document.field.ObjectType;
import dev.isola.document.field.Type;
import dev.isola.server.route.ContentShape;
import dev.isola.server.route.DecimalShape;
import dev.isola.server.route.MatchingText;
import dev.isola.server.route.OneOfShape;
import dev.isola.server.route.Shape;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Shapes of documents whose fields are in a table, for the OpenAPI document. Requests have fields
 * and names that responses do not have.
 */
final class FieldShapes {
  private static final int LONGEST_TEXT = 1 << 20;

  /** Durations that their Java type checks may be any number of seconds. */
  private static final double UNLIMITED_SECONDS = 1e15;

  private final boolean request;

  private FieldShapes(boolean request) {
    this.request = request;
  }

  /** Returns the shape of a document in requests. */
  static Shape.Obj request(ObjectType<?> type) {
    return new FieldShapes(true).object(type);
  }

  /** Returns the shape of a document in responses. */
  static Shape.Obj response(ObjectType<?> type) {
    return new FieldShapes(false).object(type);
  }

  private Shape.Obj object(ObjectType<?> type) {
    List<Shape.Field> fields = new ArrayList<>();
    for (Field<?, ?> field : type.fields()) {
      if (request) {
        fields.add(field(field));
        for (Field.Alias alias : field.aliases()) {
          alias
              .note()
              .map(note -> Shape.Field.deprecated(alias.name(), shape(field.type()), note))
              .ifPresent(fields::add);
        }
      } else if (field.isSecret()) {
        secretNames(field).ifPresent(fields::add);
      } else if (!field.isRequestOnly()) {
        fields.add(field(field));
      }
    }
    return new Shape.Obj(request ? type.requestName() : type.name(), fields);
  }

  private Shape.Field field(Field<?, ?> field) {
    return new Shape.Field(
        field.name(),
        shape(field.type()),
        field.isRequired(),
        field.description(),
        field.example(),
        field.isDeprecated(),
        field.isSecret());
  }

  /** Responses have the names of secret values. */
  private static Optional<Shape.Field> secretNames(Field<?, ?> field) {
    return field.type() instanceof Type.MapOf<?>
        ? Optional.of(
            Shape.Field.optional(
                field.name(),
                new Shape.ListOf(Shapes.TEXT, Integer.MAX_VALUE),
                "names of the secret variables"))
        : Optional.empty();
  }

  private Shape shape(Type<?> type) {
    return switch (type) {
      case Type.Text text -> text(text);
      case Type.Whole range -> new Shape.WholeNumber(range.least(), range.most());
      case Type.Int range -> new Shape.WholeNumber(range.least(), range.most());
      case Type.Decimal range -> new DecimalShape(range.above(), true, range.most());
      case Type.Flag _ -> Shapes.FLAG;
      case Type.Time time -> time(time);
      case Type.Choice<?> choice -> new Shape.Choice(choice.name(), choice.words());
      case Type.Content _ -> new ContentShape();
      case Type.ListOf<?> list -> new Shape.ListOf(shape(list.of()), list.most());
      case Type.MapOf<?> map -> new Shape.MapOf(shape(map.of()), text(map.names()));
      case Type.OneOf<?> one -> oneOf(one);
      case Type.Mapped<?, ?> mapped -> shape(mapped.of());
      case ObjectType<?> object -> object(object);
    };
  }

  private static Shape text(Type.Text text) {
    int longest = Math.min(text.longest(), LONGEST_TEXT);
    if (text.pattern().isPresent()) {
      return new MatchingText(text.pattern().get(), longest, text.rule(), text.example());
    }
    return text.blank() ? new Shape.Text(longest, "") : new Shape.NonEmptyText(longest);
  }

  private static Shape time(Type.Time time) {
    double unit = (double) Duration.ofSeconds(1).toNanos() / time.unit().toNanos();
    double least = unit / Duration.ofSeconds(1).toNanos();
    double most = Type.Time.LONGEST.toSeconds() * unit;
    return switch (time.bound()) {
      case POSITIVE -> new DecimalShape(least, most);
      case NOT_NEGATIVE -> new DecimalShape(0, most);
      case CHECKED_LATER -> new DecimalShape(least, UNLIMITED_SECONDS * unit);
    };
  }

  /** Responses have only the forms that are written. */
  private Shape oneOf(Type.OneOf<?> one) {
    List<Shape> choices = new ArrayList<>();
    for (Type.OneOf.Alternative<?, ?> alternative : one.alternatives()) {
      if (request || !alternative.requestOnly()) {
        choices.add(shape(alternative.type()));
      }
    }
    return choices.size() == 1 ? choices.getFirst() : new OneOfShape(one.name(), choices);
  }
}
