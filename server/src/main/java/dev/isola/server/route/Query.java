package dev.isola.server.route;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.Violation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Parses and validates query strings. */
public final class Query {
  private Query() {}

  /** Parses a query; adds a violation for each malformed part. */
  public static Map<String, List<String>> read(@Nullable String text, List<Violation> problems) {
    Map<String, List<String>> values = new LinkedHashMap<>();
    if (text == null || text.isEmpty()) {
      return values;
    }
    for (String part : text.split("&")) {
      int equals = part.indexOf('=');
      Optional<String> name =
          Routes.percentDecode(equals < 0 ? part : part.substring(0, equals), true);
      Optional<String> value =
          Routes.percentDecode(equals < 0 ? "" : part.substring(equals + 1), true);
      if (name.isEmpty() || value.isEmpty()) {
        problems.add(new Violation(name.orElse("the query"), "is not percent-encoded UTF-8"));
      } else if (!part.isEmpty()) {
        values.computeIfAbsent(name.get(), any -> new ArrayList<>()).add(value.get());
      }
    }
    return values;
  }

  /**
   * Validates the parameters of a request, except the sandbox in the path, which the dialect of the
   * route has resolved. On a native route, undeclared query parameters are violations as well.
   */
  public static void check(
      Route route,
      Map<String, String> path,
      Map<String, List<String>> query,
      Map<String, String> headers,
      List<Violation> problems) {
    for (Parameter parameter : route.parameters()) {
      if (parameter.where() == Parameter.Where.PATH && parameter.name().equals(Route.SANDBOX)) {
        continue;
      }
      List<String> occurrences =
          switch (parameter.where()) {
            case PATH -> one(path.get(parameter.name()));
            case QUERY -> query.getOrDefault(parameter.name(), List.of());
            case HEADER -> one(headers.get(parameter.name()));
          };
      if (occurrences.isEmpty() && parameter.required()) {
        problems.add(new Violation(parameter.name(), "is missing"));
      }
      if (occurrences.size() > 1 && !parameter.repeatable()) {
        problems.add(
            new Violation(
                parameter.name(), "must occur once, not " + occurrences.size() + " times"));
      }
      occurrences.forEach(text -> parameter.check(text, problems));
    }
    if (!route.dialect().isNative()) {
      return; // clients of other APIs may send parameters that this server does not support
    }
    List<String> known =
        route.parameters().stream()
            .filter(one -> one.where() == Parameter.Where.QUERY)
            .map(Parameter::name)
            .toList();
    for (String name : query.keySet()) {
      if (!known.contains(name)) {
        UnknownName.report("", name, known, problems);
      }
    }
  }

  private static List<String> one(@Nullable String text) {
    return text == null ? List.of() : List.of(text);
  }

  /** Returns an error that lists all violations of a request. */
  public static SandboxException invalid(List<Violation> problems) {
    Fault fault =
        Fault.of(
            ErrorCode.INVALID_REQUEST,
            "the request is invalid: "
                + problems.stream()
                    .limit(MAX_NAMED)
                    .map(Violation::toString)
                    .collect(Collectors.joining("; "))
                + (problems.size() > MAX_NAMED
                    ? "; and " + (problems.size() - MAX_NAMED) + " more"
                    : ""),
            problems.size() == 1
                ? "correct this; /api/v1/openapi.json describes every request"
                : "correct these; /api/v1/openapi.json describes every request");
    for (Violation problem : problems.subList(0, Math.min(MAX_NAMED, problems.size()))) {
      fault = fault.with(problem.field(), problem.problem());
    }
    return fault.exception();
  }

  /** The number of violations in an error; a large body can have many more. */
  private static final int MAX_NAMED = 50;
}
