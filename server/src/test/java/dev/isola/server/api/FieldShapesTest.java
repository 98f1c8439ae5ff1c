package dev.isola.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.document.EgressDocument;
import dev.isola.document.RecipeDocument;
import dev.isola.document.RequestFields;
import dev.isola.document.SpecDocument;
import dev.isola.document.request.CreateRequest;
import dev.isola.server.route.AnyObjectShape;
import dev.isola.server.route.ContentShape;
import dev.isola.server.route.DecimalShape;
import dev.isola.server.route.DocumentShape;
import dev.isola.server.route.MatchingText;
import dev.isola.server.route.OneOfShape;
import dev.isola.server.route.ScalarShape;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.InvalidRequest;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The shapes of specs, which are made from the table of fields, and of recipes accept and reject
 * the same values as the readers of these documents.
 */
class FieldShapesTest {
  private static final Shape.Obj REQUEST = FieldShapes.request(RequestFields.REQUEST);

  /** A value of one field, with the document that contains it. */
  private record Sample(String field, Object value, Map<String, Object> document, boolean valid) {}

  private static void readSpec(Map<String, Object> document) {
    SpecDocument.fromMap(document, () -> new SandboxId("fresh"));
  }

  /** Returns why the codec rejects a document; empty if it accepts it. */
  private static String rejection(
      Consumer<Map<String, Object>> codec, Map<String, Object> document) {
    try {
      codec.accept(document);
      return "";
    } catch (InvalidRequest e) {
      return e.fault().problem();
    }
  }

  /**
   * Collects samples of every field: its example, the ends of its range, and values beyond.
   *
   * @param around adds what the field needs beside it
   */
  private static void samples(
      String at, Shape.Obj shape, UnaryOperator<Map<String, Object>> around, List<Sample> found) {
    for (Field field : shape.fields()) {
      String name = at + field.name();
      Consumer<Map.Entry<Object, Boolean>> add =
          value -> {
            Map<String, Object> object = new LinkedHashMap<>();
            shape.fields().stream()
                .filter(Field::required)
                .forEach(one -> object.put(one.name(), one.shape().example()));
            object.put(field.name(), value.getKey());
            found.add(new Sample(name, value.getKey(), around.apply(object), value.getValue()));
          };
      values(field.shape()).forEach(add);
      nested(field.shape())
          .ifPresent(
              inner ->
                  samples(
                      name + ".",
                      inner,
                      object -> {
                        boolean list = field.shape() instanceof Shape.ListOf;
                        Map<String, Object> outer = new LinkedHashMap<>();
                        outer.put(field.name(), list ? List.of(object) : object);
                        return around.apply(outer);
                      },
                      found));
    }
  }

  private static Optional<Shape.Obj> nested(Shape shape) {
    return switch (shape) {
      case Shape.Obj object -> Optional.of(object);
      case Shape.ListOf list -> nested(list.of());
      case OneOfShape one -> one.choices().stream().flatMap(c -> nested(c).stream()).findFirst();
      default -> Optional.empty();
    };
  }

  private static Stream<Map.Entry<Object, Boolean>> values(Shape shape) {
    return switch (shape) {
      case Shape.WholeNumber range ->
          Stream.of(
              Map.entry(range.least(), true),
              Map.entry(range.most(), true),
              Map.entry(range.least() - 1, false),
              Map.entry(range.most() + 1, false),
              Map.entry("1", false));
      case DecimalShape range -> decimals(range);
      case Shape.Choice choice ->
          Stream.concat(
              choice.words().stream().map(word -> Map.entry((Object) word, true)),
              Stream.of(Map.entry("nosuchword", false), Map.entry(1, false)));
      case Shape.Flag _ -> Stream.of(Map.entry(true, true), Map.entry("true", false));
      case MatchingText text ->
          Stream.of(Map.entry(text.example(), true), Map.entry("", false), Map.entry(1, false));
      case Shape.NonEmptyText text ->
          Stream.of(
              Map.entry("x".repeat(Math.min(text.longest(), 4096)), true),
              Map.entry("", false),
              Map.entry(1, false));
      case Shape.Text _ -> Stream.of(Map.entry(1, false));
      case Shape.ListOf list -> lists(list);
      case Shape.MapOf map -> maps(map);
      case Shape.Obj _ -> Stream.of(Map.entry(1, false), Map.entry(List.of(), false));
      case OneOfShape one ->
          Stream.of(
              Map.entry(1, one.choices().stream().anyMatch(Shape.WholeNumber.class::isInstance)),
              Map.entry(List.of(), false));
      case ContentShape _ -> Stream.of(Map.entry("x", true), Map.entry(1, false));
      case ScalarShape _, AnyObjectShape _, DocumentShape _ -> Stream.of();
    };
  }

  private static Stream<Map.Entry<Object, Boolean>> decimals(DecimalShape range) {
    return Stream.of(
        Map.entry(BigDecimal.valueOf(range.least()), !range.exclusive()),
        Map.entry(BigDecimal.valueOf(range.most()), true),
        Map.entry(range.least() == 0 ? -1e-6 : range.least() / 2, false),
        Map.entry(range.most() * 2, false),
        Map.entry("1", false));
  }

  private static Stream<Map.Entry<Object, Boolean>> lists(Shape.ListOf list) {
    Stream<Map.Entry<Object, Boolean>> elements =
        nested(list.of()).isPresent()
            ? Stream.of()
            : values(list.of()).map(one -> Map.entry(List.of(one.getKey()), one.getValue()));
    return Stream.concat(
        Stream.of(Map.entry("x", false), Map.entry(Map.of(), false), Map.entry(List.of(), true)),
        elements);
  }

  private static Stream<Map.Entry<Object, Boolean>> maps(Shape.MapOf map) {
    Object name = map.names() instanceof MatchingText text ? text.example() : "name";
    return Stream.concat(
        Stream.of(Map.entry(List.of(), false), Map.entry("x", false), Map.entry(Map.of(), true)),
        values(map.of()).map(one -> Map.entry(Map.of(name, one.getKey()), one.getValue())));
  }

  private static void compare(
      Shape.Obj shape,
      Consumer<Map<String, Object>> codec,
      UnaryOperator<Map<String, Object>> fix) {
    List<Sample> samples = new ArrayList<>();
    samples("", shape, UnaryOperator.identity(), samples);
    List<String> differences = new ArrayList<>();
    for (Sample sample : samples) {
      String rejected = rejection(codec, fix.apply(sample.document()));
      if (rejected.isEmpty() != sample.valid()) {
        differences.add(
            sample.field()
                + " = "
                + sample.value()
                + ": "
                + (sample.valid() ? rejected : "accepted"));
      }
    }
    assertThat(differences).isEmpty();
    assertThat(samples).hasSizeGreaterThan(60);
  }

  @Test
  void specShapeAgreesWithTheReader() {
    compare(
        REQUEST,
        FieldShapesTest::readSpec,
        document -> {
          Map<String, Object> fixed = new LinkedHashMap<>(document);
          if (fixed.containsKey("networkMode") || fixed.containsKey("resourceLimits")) {
            fixed.put("apiVersion", "v1");
          }
          if (fixed.get("volumes") instanceof List<?> list
              && !list.isEmpty()
              && list.getFirst() instanceof Map<?, ?> volume) {
            Map<Object, Object> mount = new LinkedHashMap<>(volume);
            Object type = mount.getOrDefault("type", "bind");
            mount.putIfAbsent(
                "source", type.equals("bind") ? "/srv" : type.equals("volume") ? "cache" : "");
            if ("/workspace".equals(mount.get("destination"))) {
              mount.put("destination", "/data");
            }
            fixed.put("volumes", List.of(mount));
          }
          completeRule(fixed);
          completeHosting(fixed);
          return fixed;
        });
  }

  /** Adds what a sample of a hosted MCP server needs besides its field. */
  private static void completeHosting(Map<String, Object> document) {
    if (document.get("mcp") instanceof Map<?, ?> mcp) {
      Map<Object, Object> complete = new LinkedHashMap<>(mcp);
      complete.putIfAbsent("command", "server");
      document.put("mcp", complete);
      document.put("containerType", "mcp_server");
    }
  }

  /** Adds a destination to a sample of another field of an egress rule, which needs one. */
  private static void completeRule(Map<String, Object> document) {
    if (document.get("network") instanceof Map<?, ?> network
        && network.get("egress") instanceof Map<?, ?> egress
        && egress.get("rules") instanceof List<?> rules
        && !rules.isEmpty()
        && rules.getFirst() instanceof Map<?, ?> rule
        && !rule.containsKey("allow")
        && !rule.containsKey("deny")) {
      Map<Object, Object> complete = new LinkedHashMap<>(rule);
      complete.put("allow", "a.example");
      document.put("network", Map.of("egress", Map.of("rules", List.of(complete))));
    }
  }

  /** Returns egress settings with every field, which a rule cannot have at once. */
  private static Map<String, Object> fullEgress() {
    Map<Object, Object> rule = new LinkedHashMap<>((Map<?, ?>) full(EgressShapes.RULE));
    rule.remove("deny");
    Map<String, Object> egress = new LinkedHashMap<>();
    ((Map<?, ?>) full(FieldShapes.response(EgressDocument.SETTINGS)))
        .forEach((name, value) -> egress.put(String.valueOf(name), value));
    egress.put("rules", List.of(rule, Map.of("deny", "b.example")));
    return Map.of("mode", "filtered", "egress", egress);
  }

  @Test
  void recipeShapeAgreesWithTheReader() {
    compare(
        RecipeShapes.RECIPE,
        RecipeDocument::fromMap,
        document -> {
          Map<String, Object> fixed = new LinkedHashMap<>(document);
          if (!fixed.containsKey("image") && !fixed.containsKey("template")) {
            fixed.putIfAbsent("base", "python");
          }
          if (fixed.containsKey("ready")) {
            fixed.put("start", "true");
          }
          return fixed;
        });
  }

  @Test
  void everythingThatTheCodecWritesIsInTheShape() {
    Map<String, Object> all = new LinkedHashMap<>();
    for (Field field : SandboxShapes.SPEC.fields()) {
      if (!field.name().equals("secretEnv")) {
        all.put(field.name(), full(field.shape()));
      }
    }
    all.put("apiVersion", "v2");
    all.put("cwd", "/workspace");
    all.put("workspacePath", "/srv");
    all.put("network", fullEgress());
    all.put(
        "volumes", List.of(Map.of("type", "volume", "source", "cache", "destination", "/data")));
    CreateRequest request = SpecDocument.fromMap(all, () -> new SandboxId("fresh"));
    List<dev.isola.spi.spec.Violation> problems = new ArrayList<>();
    SandboxShapes.SPEC.check("", SpecDocument.toMap(request), problems);
    assertThat(problems).isEmpty();
  }

  /** Returns a value in which every field is present. */
  private static Object full(Shape shape) {
    return switch (shape) {
      case Shape.Obj object -> {
        Map<String, Object> all = new LinkedHashMap<>();
        object.fields().forEach(field -> all.put(field.name(), full(field.shape())));
        yield all;
      }
      case OneOfShape one -> full(one.choices().getLast());
      case Shape.WholeNumber range -> range.most();
      case Shape.Choice choice -> choice.words().getLast();
      default -> shape.example();
    };
  }
}
